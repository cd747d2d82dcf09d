/** Processes of all runtimes on one folder, as a test holds them. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { TestContext } from "node:test"
import { fileURLToPath } from "node:url"
import { type Answer, type Arguments, type Command, toLine } from "./commands.ts"

export type Runtime = "node" | "bun" | "deno"

export interface Hand {
  readonly runtime: Runtime
  /** Commands run one after the other, in the order of the calls. */
  readonly tell: <C extends Command>(command: C, o: Arguments<C>) => Promise<Answer<C>>
  /** Lets it close what it has open, and resolves when it is gone. */
  readonly end: () => Promise<void>
}

const PROGRAM = fileURLToPath(new URL("hand.ts", import.meta.url))

const STARTS: Readonly<Record<Runtime, readonly [string, ...string[]]>> = {
  node: [process.execPath],
  bun: ["bun"],
  deno: ["deno", "run", "-A", "--no-check", "--no-lock", "--cached-only"],
}

/** Processes on a new folder. They end with the test at the latest, and then the folder goes. */
export function startHands(
  t: TestContext,
  runtimes: readonly Runtime[],
  maxPartBytes: number,
): { readonly root: string; readonly hands: readonly Hand[] } {
  // In memory where the system has such a place: what is tested is not the disk.
  const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-processes-"))
  const hands = runtimes.map((runtime) => startHand(runtime, [root, String(maxPartBytes)]))
  t.after(async () => {
    await Promise.all(hands.map(({ end }) => end()))
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  return { root, hands }
}

function startHand(runtime: Runtime, args: readonly string[]): Hand {
  const [command, ...flags] = STARTS[runtime]
  const child = spawn(command, [...flags, PROGRAM, ...args], { stdio: ["pipe", "pipe", "pipe"] })
  let said = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text
  })
  const ended = once(child, "close")
  const waiting: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = []
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(line))
  void ended.then(([code]) => {
    for (const { reject } of waiting) reject(new Error(`A process in ${runtime} ended with ${String(code)}: ${said}`))
  })
  const end = async (): Promise<void> => {
    // It ends by itself with its input; one that is still at work is there because the test has failed.
    if (waiting.length > 0) child.kill("SIGKILL")
    child.stdin.end()
    await ended
  }
  return {
    runtime,
    end,
    tell: (command, o) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve: (line) => resolve(JSON.parse(line) as Answer<typeof command>), reject })
        child.stdin.write(toLine({ command, o }))
      }),
  }
}
