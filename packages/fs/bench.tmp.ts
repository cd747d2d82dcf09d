import { createFileStorage } from "./src/index.ts"
import * as fs from "node:fs"
const root = "/dev/shm/bench-sessions"; fs.rmSync(root,{recursive:true,force:true})
const s = createFileStorage({root})
const kinds = ["hello world this is some text of a prompt ", "tool result line\\n  with some whitespace and code; function(x) { return x }\n", "ünïcode ☃ "]
let h: any = 0; let n=0; let bytes=0
while (bytes < 200e6) { const lines: string[]=[]; while(lines.length<400) { lines.push(JSON.stringify({type:"message",id:"01ARZ3NDEKTSV4RRFFQ69G5FAV"+n, parentId:"x"+n, seq:n, timestamp:new Date().toISOString(), message:{role:"user",content:[{type:"text",text:kinds[n%20===0?2:n%2]!.repeat(5+n%90)}]}})); bytes+=lines.at(-1)!.length; n++ } h = await s.append("a", lines, {expect:h}) }
const files = fs.readdirSync(root+"/a").filter(f=>f.endsWith(".jsonl")).map(f=>root+"/a/"+f).sort((a,b)=> Number(a.match(/\.(\d+)\.jsonl/)?.[1]??0)-Number(b.match(/\.(\d+)\.jsonl/)?.[1]??0))
async function raw(sync: boolean) {
  let count=0
  for (const f of files) { const fd=fs.openSync(f,"r"); const size=fs.fstatSync(fd).size; const buf=Buffer.alloc(262144); let at=0
    while(at<size){ const got= sync ? fs.readSync(fd,buf,0,buf.length,at) : await new Promise<number>((r,j)=>fs.read(fd,buf,0,buf.length,at,(e,c)=>e?j(e):r(c)));
      let start=0; for(let i=buf.indexOf(10); i>=0 && i<got; i=buf.indexOf(10,start)) { JSON.parse(buf.toString("utf8",start,i)); count++; start=i+1 } at+=start }
    fs.closeSync(fd) }
  return count
}
async function ours() { let count=0; for await (const c of s.read("a")) { for (const l of c.lines) { JSON.parse(l); count++ } } return count }
async function only() { let count=0; for await (const c of s.read("a")) count+=c.lines.length; return count }
for (let i=0;i<3;i++) for (const [name,f] of [["raw sync",()=>raw(true)],["raw async",()=>raw(false)],["ours",ours],["read only",only]] as const) { const t=performance.now(); const c=await f(); const ms=performance.now()-t; console.log(name,c, (bytes/1e6/(ms/1000))|0,"MB/s") }
let t=performance.now(); await s.head("a"); console.log("head again", performance.now()-t)
await new Promise(r=>setTimeout(r,100))
{ const o = createFileStorage({root}); t=performance.now(); await o.head("a"); console.log("head fresh", performance.now()-t); t=performance.now(); for await (const c of o.read("a",{last:50})) ; console.log("last 50", performance.now()-t);  t=performance.now(); for await (const c of o.read("a",{last:50})) ; console.log("last 50", performance.now()-t)}
await s[Symbol.asyncDispose]()
