/** Runs the built command in a new process of the current runtime. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Result } from "./harness.ts"
import { FLAGS } from "../../../.config/program.ts"

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url))

export interface ProcessOptions {
  readonly cwd: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** Closes the reading end of standard output after the first chunk. */
  readonly stopReading?: boolean
  /** Runs as this user, which requires root. */
  readonly user?: number | undefined
  /** Runs in a folder of this name in `cwd` that is removed before. */
  readonly removed?: string
}

export function runProcess(
  { cwd, stdin = "", env = {}, stopReading = false, user, removed }: ProcessOptions,
  ...argv: string[]
): Promise<Result> {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const as = user === undefined ? {} : { uid: user, gid: user }
  const own = [process.execPath, ...FLAGS, bin, ...argv]
  const script = `mkdir "$0" && cd "$0" && rmdir "../$0" && exec "$@"`
  const [program, ...args] = removed === undefined ? own : ["/bin/sh", "-c", script, removed, ...own]
  const child = spawn(program as string, args, { cwd, env: { ...inherited, ...env }, ...as })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    if (stopReading) child.stdout.destroy()
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  child.stdin.on("error", () => undefined)
  child.stdin.end(stdin)
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => resolve({ exit: code ?? -1, stdout, stderr }))
  })
}
