/**
 * Notes for each test how much CPU time it took, in seconds, with that of the processes that it waited for. Only where a process runs one test at a
 * time, and tells the time of its children: in Node's child processes on Linux.
 */
import { existsSync, readFileSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
import { afterEach, beforeEach } from "vitest"

declare module "vitest" {
  interface TaskMeta {
    cpu?: number
  }
}

const STAT = "/proc/self/stat"
/** Of `cutime` and `cstime`, which follow the name of the program in parentheses: proc(5). They are in ticks of 10 ms. */
const [CUTIME, CSTIME] = [13, 14]

if (isMainThread && existsSync(STAT) && !("Deno" in globalThis) && !("Bun" in globalThis)) {
  let before = 0
  beforeEach(() => {
    before = cpuSeconds()
  })
  afterEach(({ task }) => {
    task.meta.cpu = Math.round((cpuSeconds() - before) * 1_000) / 1_000
  })
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  const fields = readFileSync(STAT, "utf8").split(") ").at(-1)?.split(" ") ?? []
  return (user + system) / 1e6 + (Number(fields[CUTIME]) + Number(fields[CSTIME])) / 100
}
