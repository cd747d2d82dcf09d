/** Runs a shell command as the model: the prompt goes to its standard input, its standard output is the answer. */
import type { Summarize } from "@sessions/core/compaction"
import type { Io } from "./io.ts"
import { runShellCommand } from "./shell-command.ts"

/** The command also gets SESSIONS_MAX_TOKENS, the requested length, and SESSIONS_TEMPERATURE, if one is set. */
export function commandSummarizer(command: string, io: Pick<Io, "cwd" | "env">): Summarize {
  return ({ system, prompt, maxTokens, temperature, signal }) => {
    const env = {
      SESSIONS_MAX_TOKENS: String(maxTokens),
      ...(temperature === undefined ? {} : { SESSIONS_TEMPERATURE: String(temperature) }),
    }
    return runShellCommand(command, `${system}\n\n${prompt}\n`, io, { env, signal })
  }
}
