/** Tests the built command, dist/bin.js, in the current runtime. Shared by three test runners, so it uses no assertions of its own runner. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url))
const flags = "Deno" in globalThis ? ["run", "-A", "--no-lock", "--cached-only"] : []

export type Test = (name: string, fn: () => void) => unknown

export function register(test: Test): void {
  test("the built command runs, and exits with 2 on wrong usage", () => {
    const cwd = mkdtempSync(join(tmpdir(), "sessions-built-"))
    try {
      expectResult(sessions(cwd, "--version"), 0, /^\d+\.\d+\.\d+\n$/)
      expectResult(sessions(cwd, "resume", "--create", "--pointer", "tty1"), 0, /^[0-9A-Z]{26}\n$/)
      expectResult(sessions(cwd, "list"), 0, /^ID .*\n[0-9A-Z]{26} .*\n$/)
      expectResult(sessions(cwd, "verify", "--all"), 0, /\n1 session, 0 damaged\n$/)
      expectResult(sessions(cwd, "lsit"), 2, /^$/)
    } finally {
      rmSync(cwd, { recursive: true, force: true })
    }
  })
}

interface Result {
  readonly command: string
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

function sessions(cwd: string, ...argv: string[]): Result {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, bin, ...argv], { cwd, encoding: "utf8" })
  return { command: argv.join(" "), exit: status, stdout, stderr }
}

function expectResult(result: Result, exit: number, stdout: RegExp): void {
  if (result.exit !== exit || !stdout.test(result.stdout)) throw new Error(JSON.stringify(result, undefined, 2))
}
