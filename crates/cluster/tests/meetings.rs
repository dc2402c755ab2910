//! Processes that meet, here threads: what they say arrives in order, and what is wrong is said by name.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use quotient_cluster::{Cluster, Meeting, Refused, Subject, hosts};
use quotient_search::Peers;

/// Places on this machine that are free.
fn places(count: usize) -> Vec<String> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("there is a port")).collect();
    listeners.iter().map(|l| l.local_addr().expect("it has an address").to_string()).collect()
}

fn meeting(hosts: &[String], process: usize) -> Meeting {
    let token = b"a token for tests".to_vec();
    Meeting {
        hosts: hosts.to_vec(),
        process,
        listen: None,
        token,
        wait: Duration::from_secs(3),
        again: "try again".into(),
    }
}

fn subject(model: &str) -> Subject {
    vec![("the program".into(), "0.2.0".into()), ("the model's text".into(), model.into())]
}

/// All meet, each with what it was given.
fn meet(all: Vec<(Meeting, Subject)>) -> Vec<Result<Cluster, Refused>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            all.iter().map(|(meeting, subject)| scope.spawn(|| meeting.meet(subject))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

#[test]
fn messages_arrive_in_order_and_a_process_that_leaves_is_missed() {
    let hosts = places(3);
    let met = meet((0..3).map(|process| (meeting(&hosts, process), subject("same"))).collect());
    let mut all: Vec<Cluster> = met.into_iter().map(|met| met.expect("they meet")).collect();
    for cluster in &mut all {
        cluster.begin(None);
    }
    for number in 0..200u8 {
        for (from, cluster) in all.iter_mut().enumerate() {
            for to in (0..3).filter(|to| *to != from) {
                cluster.send(to, vec![from as u8, number]).expect("it is there");
            }
        }
    }
    for (me, cluster) in all.iter_mut().enumerate() {
        let mut next = [0u8; 3];
        for _ in 0..400 {
            let (from, message) =
                cluster.receive(Duration::from_secs(5)).expect("nobody is lost").expect("in time");
            assert_eq!(message, [from as u8, next[from]]);
            next[from] += 1;
        }
        next[me] = 200;
        assert_eq!(next, [200; 3]);
    }
    // A message of a search that the other has not begun waits for it.
    all[1].begin(None);
    all[1].send(0, vec![9]).expect("it is there");
    assert!(all[0].receive(Duration::from_millis(300)).expect("nobody is lost").is_none());
    all[0].begin(None);
    let message = all[0].receive(Duration::from_secs(5)).expect("nobody is lost");
    assert_eq!(message, Some((1, vec![9])));
    drop(all.remove(1));
    let started = Instant::now();
    let missed = loop {
        match all[0].receive(Duration::from_millis(10)) {
            Ok(_) => assert!(started.elapsed() < Duration::from_secs(8), "it is not missed"),
            Err(why) => break why,
        }
    };
    assert!(missed.contains("process 1") && missed.contains("has ended"), "{missed}");
}

#[test]
fn shapes_are_numbered_by_the_first() {
    let hosts = places(2);
    let met = meet((0..2).map(|process| (meeting(&hosts, process), subject("same"))).collect());
    let [mut first, mut second]: [Cluster; 2] =
        met.into_iter().map(|met| met.expect("they meet")).collect::<Vec<_>>().try_into().expect("two");
    second.begin(None);
    let ask = second.asker();
    std::thread::scope(|scope| {
        // Asked before the first one has begun: it waits.
        let asked = scope.spawn(|| (ask(1, Some(&[7, 8])), ask(0, None)));
        std::thread::sleep(Duration::from_millis(100));
        first.begin(Some(Box::new(|have, description| {
            Some(vec![vec![have as u32], description.unwrap_or_default().to_vec()])
        })));
        let (one, other) = asked.join().expect("no panic");
        assert_eq!(one, Some(vec![vec![1], vec![7, 8]]));
        assert_eq!(other, Some(vec![vec![0], vec![]]));
    });
}

#[test]
fn what_is_wrong_is_said() {
    let said = |met: &Result<Cluster, Refused>| match met {
        Ok(_) => "they met".to_owned(),
        Err(refused) => refused.to_string(),
    };
    // Another token.
    let hosts = places(2);
    let other = Meeting { token: b"another token here".to_vec(), ..meeting(&hosts, 1) };
    let met = meet(vec![(meeting(&hosts, 0), subject("same")), (other, subject("same"))]);
    assert!(said(&met[1]).contains("has another token"), "{}", said(&met[1]));
    assert!(
        said(&met[0]).contains("did not come") && said(&met[0]).contains("another token"),
        "{}",
        said(&met[0])
    );
    // Another model.
    let hosts = places(2);
    let met = meet(vec![(meeting(&hosts, 0), subject("one")), (meeting(&hosts, 1), subject("other"))]);
    for met in &met {
        assert!(said(met).contains("the model's text") && said(met).contains("differs"), "{}", said(met));
    }
    // One that never comes, in either direction.
    let hosts = places(2);
    let hurried = |process| Meeting { wait: Duration::from_millis(200), ..meeting(&hosts, process) };
    let alone = hurried(0).meet(&subject("same"));
    assert!(said(&alone).contains("process 1") && said(&alone).contains("did not come"), "{}", said(&alone));
    let alone = hurried(1).meet(&subject("same"));
    assert!(
        said(&alone).contains("process 0") && said(&alone).contains("cannot be reached"),
        "{}",
        said(&alone)
    );
    // A port in use.
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let hosts = vec![taken.local_addr().expect("it has an address").to_string()];
    let met = meeting(&hosts, 0).meet(&subject("same"));
    assert!(said(&met).contains("another program has this port"), "{}", said(&met));
    // No such process.
    assert!(said(&meeting(&hosts, 3).meet(&subject("same"))).contains("there is no process 3"));
}

#[test]
fn a_stranger_is_turned_away_and_the_others_meet() {
    let hosts = places(2);
    let first = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| meeting(&hosts, 0).meet(&subject("same")));
        let stranger = loop {
            match std::net::TcpStream::connect(&hosts[0]) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        std::io::Write::write_all(&mut &stranger, b"GET / HTTP/1.1\r\n\r\n").expect("it can speak");
        let second = meeting(&hosts, 1).meet(&subject("same"));
        assert!(second.is_ok(), "{second:?}");
        waiting.join().expect("no panic")
    });
    assert!(first.is_ok(), "{first:?}");
}

#[test]
fn lists_of_hosts() {
    let good = hosts("# ours\n10.0.0.1:4000\n\nnode-2:4000  # the second\n[::1]:5000\n").expect("a list");
    assert_eq!(good, ["10.0.0.1:4000", "node-2:4000", "[::1]:5000"]);
    for (text, line) in [
        ("a:1\nb\n", "line 2"),
        ("a:0\n", "line 1"),
        ("a:1\nb:x\n", "line 2"),
        ("a b:1\n", "line 1"),
        (":1\n", "line 1"),
        ("a:99999\n", "line 1"),
        ("a:1\n\na:1\n", "line 3"),
    ] {
        let why = hosts(text).expect_err(text).to_string();
        assert!(why.contains(line), "{text:?}: {why}");
    }
    assert!(hosts("# nobody\n").is_err());
}
