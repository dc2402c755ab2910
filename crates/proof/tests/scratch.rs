use quotient_proof::*;
use quotient_source::*;
use quotient_proof::program::*;
use quotient_proof::relative::*;
fn load(text:&str)->Program{ let mut m=SourceMap::new(); let f=m.add("x.clp",text); let mut d=Diagnostics::new(); let p=language::read(&m,f,&mut d); for x in d.iter(){println!("{}",render(&m,x,false));} p.unwrap()}
fn opt(grain:Grain,one:bool)->RelativeOptions{RelativeOptions{max_left:60,max_right:8,max_right_states:2000,max_entries:50000,max_time:std::time::Duration::from_secs(20),bounded_length:true,grain,one_level:one}}
#[test] fn scratch(){
 for n in 2..=5 { let p=load(&models::generate("bakery",n).unwrap()); let d=domain::Domain::of(&p); let t=std::time::Instant::now(); let (mut l,mut r)=(0,0);
  for g in 0..p.assertions.len(){ if !p.assertions[g].is_relative(){continue}
   match prove_group(&p,&d,&[g],&Support::default(),&opt(Grain::Whole,true)) { Outcome::Proved(x)=>{l+=x.left_states;r+=x.right_states}, Outcome::Failed(s,..)=>println!("failed {s}") } }
  println!("n={n} L={l} R={r} {:?}",t.elapsed());
 }
 let szy=std::fs::read_to_string("/tmp/proof/szy2.clp").unwrap();
 let pri=std::fs::read_to_string("/tmp/proof/priority.clp").unwrap();
 for text in [pri,szy]{ let p=load(&text); let d=domain::Domain::of(&p);
  let g:Vec<usize>=(0..p.assertions.len()).filter(|i|p.assertions[*i].is_relative()).collect();
  let reach=explicit::explore(&p,10000); println!("reach {} {}",reach.states.len(),reach.complete);
  for grain in [Grain::Whole,Grain::Locations,Grain::Values]{ let t=std::time::Instant::now();
  match prove_group(&p,&d,&g,&Support{reachable:Some(&reach),..Default::default()},&opt(grain,false)) { Outcome::Proved(x)=>println!("{grain:?} proved {} {} entries {} dead {} {:?} maxdepth {:?}",x.left_states,x.right_states,x.entries.len(),x.dead.len(),t.elapsed(),x.entries.iter().map(|e|e.depth).max()), Outcome::Failed(s,l,r)=>println!("{grain:?} failed {s} {l} {r} {:?}",t.elapsed()) }}
 }
}
