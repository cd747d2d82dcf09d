/** Asks before a command changes what cannot be brought back. */
import type { Io } from "./io.ts"

/** Whether the first line of standard input is yes. */
export async function confirmed(io: Io, question: string): Promise<boolean> {
  await io.stdout.write(`${question} [y/N] `)
  let answer = ""
  for await (const chunk of io.stdin) {
    answer += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk)
    if (answer.includes("\n")) break
  }
  return /^\s*y(?:es)?\s*$/i.test(answer.split("\n")[0] ?? "")
}
