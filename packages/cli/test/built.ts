/** The command as users get it, dist/bin.js, in the runtime that runs this. No test runner's own assertions: three runners share it. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url))
const flags = "Deno" in globalThis ? ["run", "-A", "--no-lock", "--cached-only"] : []

export type Test = (name: string, fn: () => void) => unknown

export function register(test: Test): void {
  test("the built command runs, and answers wrong use with 2", () => {
    const cwd = mkdtempSync(join(tmpdir(), "sessions-built-"))
    try {
      demand(sessions(cwd, "--version"), 0, /^\d+\.\d+\.\d+\n$/)
      demand(sessions(cwd, "resume", "--pointer", "tty1"), 0, /^[0-9A-Z]{26}\n$/)
      demand(sessions(cwd, "list"), 0, /^ID .*\n[0-9A-Z]{26} .*\n$/)
      demand(sessions(cwd, "verify", "--all"), 0, /\n1 session, none damaged\n$/)
      demand(sessions(cwd, "lsit"), 2, /^$/)
    } finally {
      rmSync(cwd, { recursive: true, force: true })
    }
  })
}

interface Ended {
  readonly command: string
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

function sessions(cwd: string, ...argv: string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, bin, ...argv], { cwd, encoding: "utf8" })
  return { command: argv.join(" "), exit: status, stdout, stderr }
}

function demand(ended: Ended, exit: number, stdout: RegExp): void {
  if (ended.exit !== exit || !stdout.test(ended.stdout)) throw new Error(JSON.stringify(ended, undefined, 2))
}
