/** A program of the person's own as the summarizer: the prompt goes to its standard input, the summary comes from its output. */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import type { Summarize } from "@sessions/core"
import { CommandError } from "./errors.ts"
import type { Io } from "./io.ts"

/** No summary is so long; a program that prints without end must not fill the memory. */
const LONGEST_OUTPUT = 4_000_000
/** What is shown of what a failed program said. */
const SHOWN_COMPLAINT = 500

/** `command` is a line for the shell. It also finds the length that is asked for, and the temperature, in its environment. */
export function commandSummarizer(command: string, { cwd, env }: Pick<Io, "cwd" | "env">): Summarize {
  return async ({ system, prompt, maxTokens, temperature, signal }) => {
    const asked = {
      SESSIONS_MAX_TOKENS: String(maxTokens),
      ...(temperature === undefined ? {} : { SESSIONS_TEMPERATURE: String(temperature) }),
    }
    // A group of its own: stopping the shell alone would leave what it has started.
    const child = spawn(command, { shell: true, cwd, env: { ...env, ...asked }, detached: hasGroups() })
    const stop = (): void => killAll(child)
    if (signal.aborted) stop()
    else signal.addEventListener("abort", stop, { once: true })
    try {
      return await outputOf(child, `${system}\n\n${prompt}\n`)
    } finally {
      signal.removeEventListener("abort", stop)
    }
  }
}

function outputOf(child: ChildProcess, input: string): Promise<string> {
  const { stdin, stdout, stderr } = child
  return new Promise((resolve, reject) => {
    let output = ""
    let complaint = ""
    stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text
      if (output.length > LONGEST_OUTPUT) {
        killAll(child)
        reject(new CommandError(`it printed more than ${LONGEST_OUTPUT} characters`))
      }
    })
    stderr?.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-SHOWN_COMPLAINT)))
    child.on("error", (error) => reject(new CommandError(`it could not be started: ${error.message}`)))
    child.on("close", (code, killedBy) => {
      if (code === 0) return resolve(output)
      const how = code === null ? `was ended by ${killedBy ?? "a signal"}` : `ended with status ${code}`
      const said = complaint.trim()
      reject(new CommandError(`it ${how}${said === "" ? "" : `: ${said}`}`))
    })
    // A program that does not read all of its input, or any, may still have an answer.
    stdin?.on("error", () => undefined)
    stdin?.end(input)
  })
}

function killAll(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null) return
  try {
    if (hasGroups()) process.kill(-child.pid, "SIGKILL")
    else child.kill("SIGKILL")
  } catch {
    // It has ended by itself meanwhile.
  }
}

function hasGroups(): boolean {
  return process.platform !== "win32"
}
