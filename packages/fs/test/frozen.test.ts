/** A process that the system stops for longer than its lock lasts, and that wakes up in the middle of an append. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { linesOf, makeRoot, openAt } from "./helpers.ts"
import { FLAGS } from "../../../.config/program.ts"

const PROGRAM = fileURLToPath(new URL("frozen-process.ts", import.meta.url))
/** A holder trusts its lock for 2 s after a refresh; one that slept no longer than that has not lost it. */
const SLEEP_MS = 2_100

const hasStates = fs.existsSync("/proc/self/stat")
if (!hasStates) console.log("Tests of stopped processes are left out: this system has no /proc to see their state in.")

for (const [when, outcome] of [
  ["before", "conflict"],
  ["after", "done 3"],
] as const) {
  test.skipIf(!hasStates)(
    `stopped ${when} its write, the lock taken over meanwhile, a writer says ${outcome}, as the log does, and goes on`,
    async () => {
      const root = makeRoot()
      const child = spawn(process.execPath, [...FLAGS, PROGRAM, root, when], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      onTestFinished(() => void child.kill("SIGKILL"))
      const said = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      expect((await said.next()).value).toBe("stopping")
      await expect.poll(() => stateOf(child.pid ?? 0)).toBe("T")
      const stopped = performance.now()
      const lock = join(root, ".locks", "a.lock")
      const long = Date.now() / 1000 - 20
      fs.utimesSync(lock, long, long)

      const { storage } = openAt(root)
      const before = await storage.head("a")
      let head = { next: before?.next ?? 0, log: before?.log ?? "" }
      for (const line of ["theirs 1", "theirs 2"]) head = await storage.append("a", [line], { expect: head })
      await storage[Symbol.asyncDispose]()
      await pause(Math.max(0, SLEEP_MS - (performance.now() - stopped)))
      child.kill("SIGCONT")
      expect((await said.next()).value).toBe(outcome)
      if (child.exitCode === null) await once(child, "exit")
      const written = when === "after" ? ["one", "two", "late"] : ["one", "two"]
      const wanted =
        when === "after" ? [...written, "theirs 1", "theirs 2"] : [...written, "theirs 1", "theirs 2", "on"]
      // Of the one whose write stood, the next append meets the other's lines: its head is an old one.
      expect(await linesOf(openAt(root).storage, "a")).toEqual(wanted)
    },
  )
}

/** One letter; `T` for a process that is stopped. */
function stateOf(pid: number): string | undefined {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
  return stat.slice(stat.lastIndexOf(")") + 2).at(0)
}
