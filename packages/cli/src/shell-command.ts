/** Runs a shell command of the user, or another program: a text goes to its standard input, its standard output is the result. */
import { type ChildProcess, spawn } from "node:child_process"
import { CommandError } from "./errors.ts"
import type { Io } from "./io.ts"

/** Far above any answer. A command that prints without end must not fill the memory. */
const MAX_OUTPUT_UNITS = 4_000_000
/** The end of the command's standard error that its failure message quotes. */
const QUOTED_ERROR_UNITS = 500

/** `env` is added to the environment. The signal kills the command and all processes that it started. */
export async function runShellCommand(
  command: string,
  input: string,
  io: Pick<Io, "cwd" | "env">,
  { env = {}, signal }: { readonly env?: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<string> {
  // Its own process group: killing only the shell would leave the processes that it started.
  const child = spawn(command, {
    shell: true,
    cwd: io.cwd,
    env: { ...io.env, ...env },
    detached: hasProcessGroups(),
  })
  return ended(child, input, signal)
}

/** Runs a program without a shell, in a folder. */
export async function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  cwd: string,
  { env }: Pick<Io, "env">,
  signal: AbortSignal,
): Promise<string> {
  return ended(spawn(program, args, { cwd, env: { ...env }, detached: hasProcessGroups() }), "", signal)
}

async function ended(child: ChildProcess, input: string, signal: AbortSignal): Promise<string> {
  const stop = (): void => killGroup(child)
  if (signal.aborted) stop()
  else signal.addEventListener("abort", stop, { once: true })
  try {
    return await outputOf(child, input)
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

function outputOf(child: ChildProcess, input: string): Promise<string> {
  const { stdin, stdout, stderr } = child
  return new Promise((resolve, reject) => {
    let output = ""
    let errors = ""
    stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text
      if (output.length > MAX_OUTPUT_UNITS) {
        killGroup(child)
        reject(new CommandError(`it printed more than ${MAX_OUTPUT_UNITS} characters`))
      }
    })
    stderr?.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-QUOTED_ERROR_UNITS)))
    child.on("error", (error) => reject(new CommandError(`it could not be started: ${error.message}`)))
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(output)
      const reason = code === null ? `was killed by ${signal ?? "a signal"}` : `exited with status ${code}`
      const quoted = errors.trim()
      reject(new CommandError(`it ${reason}${quoted === "" ? "" : `: ${quoted}`}`))
    })
    // A command may answer without reading all of its input; writing to it then fails with EPIPE.
    stdin?.on("error", () => undefined)
    stdin?.end(input)
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null) return
  try {
    if (hasProcessGroups()) process.kill(-child.pid, "SIGKILL")
    else child.kill("SIGKILL")
  } catch {
    // It has already ended.
  }
}

function hasProcessGroups(): boolean {
  return process.platform !== "win32"
}
