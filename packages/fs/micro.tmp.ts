import * as fs from "node:fs"
import { isAscii, isUtf8 } from "node:buffer"
const dir="/dev/shm/bench-sessions/a"
const f = fs.readdirSync(dir).filter(f=>f.endsWith(".jsonl"))[0]!
const all = fs.readFileSync(dir+"/"+f)
const pieces: Buffer[]=[]; { let at=0; while(at<all.length){ let end=Math.min(all.length,at+262144); const l=all.subarray(at,end).lastIndexOf(10); pieces.push(all.subarray(at,at+l)); at+=l+1 } }
const ascii = pieces.map(p=>Buffer.from(p.map(b=>b>127?65:b)))
const dec = new TextDecoder("utf-8",{fatal:true,ignoreBOM:true})
const V: Record<string,(b:Buffer)=>string[]> = {
 latin1split: b=>b.toString("latin1").split("\n"),
 utf8split: b=>b.toString("utf8").split("\n"),
 decsplit: b=>dec.decode(b).split("\n"),
 perLineUtf8: b=>{ const r:string[]=[]; let s=0; for(;;){ const i=b.indexOf(10,s); if(i<0){ r.push(b.toString("utf8",s)); return r } r.push(b.toString("utf8",s,i)); s=i+1 } },
 perLineLatin1: b=>{ const r:string[]=[]; let s=0; for(;;){ const i=b.indexOf(10,s); if(i<0){ r.push(b.latin1Slice(s)); return r } r.push(b.latin1Slice(s,i)); s=i+1 } },
 perLineLatin1U8: b=>{ const r:string[]=[]; let s=0; const u=new Uint8Array(b.buffer,b.byteOffset,b.length); for(;;){ const i=u.indexOf(10,s); if(i<0){ r.push(b.latin1Slice(s)); return r } r.push(b.latin1Slice(s,i)); s=i+1 } },
 perLineDec: b=>{ const r:string[]=[]; let s=0; for(;;){ const i=b.indexOf(10,s); if(i<0){ r.push(dec.decode(b.subarray(s))); return r } r.push(dec.decode(b.subarray(s,i))); s=i+1 } },
 isAscii: b=>[String(isAscii(b))], isUtf8: b=>[String(isUtf8(b))],
 indexOf: b=>{ let s=0,n=0; for(;;){ const i=b.indexOf(10,s); if(i<0) return [""+n]; n++; s=i+1 } },
}
for (const [set,ps] of [["ascii",ascii],["mixed",pieces]] as const) for (const [n,v] of Object.entries(V)) for (const parse of [false,true]) {
  let best=1e9; for(let k=0;k<3;k++){ const t=performance.now(); for (const p of ps) { const ls=v(p); if(parse && ls.length>1) for (const l of ls) try { JSON.parse(l) } catch {} } best=Math.min(best,performance.now()-t) }
  console.log(set.padEnd(6),n.padEnd(16),parse?"parse":"     ",(all.length/1e6/(best/1000))|0)
}
