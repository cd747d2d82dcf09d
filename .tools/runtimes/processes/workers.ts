/** Starts processes of several runtimes on one folder and sends them commands. */
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

export interface Worker {
  readonly runtime: Runtime
  /** Commands run one after the other, in the order of the calls. */
  readonly send: <C extends Command>(command: C, o: Arguments<C>) => Promise<Answer<C>>
  /** Ends its input, so that it closes its storages, and resolves when the process has ended. */
  readonly end: () => Promise<void>
}

const PROGRAM = fileURLToPath(new URL("worker.ts", import.meta.url))

const STARTS: Readonly<Record<Runtime, readonly [string, ...string[]]>> = {
  node: [process.execPath],
  bun: ["bun"],
  deno: ["deno", "run", "-A", "--no-check", "--no-lock", "--cached-only"],
}

/** Starts processes on a new folder. After the test they are ended and the folder is removed. */
export function startWorkers(
  t: TestContext,
  runtimes: readonly Runtime[],
  maxPartBytes: number,
): { readonly root: string; readonly workers: readonly Worker[] } {
  // In memory if possible, since the disk is not under test.
  const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-processes-"))
  const workers = runtimes.map((runtime) => startWorker(runtime, [root, String(maxPartBytes)]))
  t.after(async () => {
    await Promise.all(workers.map(({ end }) => end()))
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  return { root, workers }
}

function startWorker(runtime: Runtime, args: readonly string[]): Worker {
  const [command, ...flags] = STARTS[runtime]
  const child = spawn(command, [...flags, PROGRAM, ...args], { stdio: ["pipe", "pipe", "pipe"] })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  const ended = once(child, "close")
  const pending: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = []
  createInterface({ input: child.stdout }).on("line", (line) => pending.shift()?.resolve(line))
  void ended.then(([code]) => {
    for (const { reject } of pending) reject(new Error(`A process in ${runtime} ended with ${String(code)}: ${stderr}`))
  })
  const end = async (): Promise<void> => {
    // It ends with its input. One that still works is left over from a failed test.
    if (pending.length > 0) child.kill("SIGKILL")
    child.stdin.end()
    await ended
  }
  return {
    runtime,
    end,
    send: (command, o) =>
      new Promise((resolve, reject) => {
        pending.push({ resolve: (line) => resolve(JSON.parse(line) as Answer<typeof command>), reject })
        child.stdin.write(toLine({ command, o }))
      }),
  }
}
