use quotient_proof::*;
use quotient_source::*;
use quotient_proof::safety::*;
use quotient_proof::program::*;
fn load(text:&str)->Program{ let mut m=SourceMap::new(); let f=m.add("x.clp",text); let mut d=Diagnostics::new(); let p=language::read(&m,f,&mut d); for x in d.iter(){println!("{}",render(&m,x,false));} p.unwrap()}
#[test] fn scratch(){
 for n in 2..=5 { let p=load(&models::generate("bakery",n).unwrap()); let d=domain::Domain::of(&p);
  let ix=|s:&str|p.assertions.iter().position(|a|a.name==s).unwrap();
  let inv=match &p.assertions[ix("nonneg")].right{Right::Constraint(t)=>t.clone(),_=>panic!()};
  let mx=&p.assertions[ix("mutex")];
  let mut bad=vec![]; step::Step::condition(&p,&d,&mx.left,p.width()+1).unfold(&d,&d.universe(),&mut |s,_|bad.push(s)).unwrap();
  for sym in [false,true]{ if n==5&&!sym{continue}
  for order in [Order::Depth,Order::Breadth]{ for evict in [false,true]{
   let maps: Vec<_> = if sym {mx.using.iter().filter(|u|p.assertions[**u].is_relative()).map(|u|canonical::Map::of(&p,&d,*u).unwrap()).collect()} else {vec![]};
   let pr=Prover::new(&p,&d,maps,&[&inv]); let t=std::time::Instant::now();
   match pr.unreachable(&bad,&SafetyOptions{order,evict,..Default::default()}) { Ok(x)=>println!("n={n} sym={sym} {order:?} evict={evict} stored={} total={} visited={} {:?}",x.table.stored,x.table.entries.len(),x.visited,t.elapsed()), Err((e,t))=>println!("n={n} {sym} gave up {e:?} {}",t.stored)}
  }}}
 }}
