/** Reads a log from end to end and does nothing else: `replay-process.ts ROOT SESSION`. Says how much there was and the most memory it ever had. */
import { readFileSync } from "node:fs"
import { createFileStorage } from "../src/index.ts"

const [root = "", session = ""] = process.argv.slice(2)
const storage = createFileStorage({ root })
let lines = 0
let units = 0
for await (const chunk of storage.read(session)) {
  lines += chunk.lines.length
  for (const line of chunk.lines) units += line.length
}
await storage[Symbol.asyncDispose]()
const peak = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]
process.stdout.write(JSON.stringify({ lines, units, peakBytes: Number(peak) * 1024 }))
