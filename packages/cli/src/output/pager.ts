/** Long output goes through a pager on a terminal, as in git. */
import { spawn } from "node:child_process"
import type { Io, Page, Sink } from "../io.ts"

/** As git sets it: leave at once if the output fits, keep colours, leave the text on the screen. */
const LESS = "FRX"

/** The pager of the environment; undefined if the output is not for a terminal, or the user wants none. */
export function pagerOf({ stdout, env }: Io): string | undefined {
  const { rows = 0, isTerminal } = stdout
  if (!isTerminal || rows === 0 || env["TERM"] === "dumb") return undefined
  const command = env["SESSIONS_PAGER"] ?? env["PAGER"] ?? "less"
  return command === "" || command === "cat" ? undefined : command
}

/** Pages by a command of the shell, which inherits the terminal. */
export function pageBy(env: Io["env"]): Page {
  return async (command, write) => {
    const child = spawn(command, { shell: true, stdio: ["pipe", "inherit", "inherit"], env: { LESS, ...env } })
    const ended = new Promise<number | null>((resolve) => {
      child.once("error", () => resolve(NOT_FOUND))
      child.once("exit", resolve)
    })
    // The reader may leave before the end.
    child.stdin.on("error", () => undefined)
    // An interrupt is the pager's as long as it runs.
    const ignore = (): void => undefined
    process.on("SIGINT", ignore)
    const sink: Sink = {
      isTerminal: true,
      write: (text) =>
        new Promise((resolve) => {
          child.stdin.write(text, () => resolve())
        }),
    }
    try {
      await write(sink)
      child.stdin.end()
      const code = await ended
      return code !== NOT_FOUND && code !== NOT_EXECUTABLE
    } finally {
      process.off("SIGINT", ignore)
    }
  }
}

/** Exit statuses of a shell that could not run the command. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126
