/** `commands-process.ts COMMANDS`: runs commands in the current folder one after the other, the arguments of each as JSON, and prints their results. */
import { type Io, run, type Sink } from "@sessions/cli"
import type { Result } from "../harness.ts"

async function resultOf(argv: readonly string[]): Promise<Result> {
  const text = { stdout: "", stderr: "" }
  const sink = (name: keyof typeof text): Sink => ({
    isTerminal: false,
    write: async (chunk) => {
      text[name] += chunk
    },
  })
  const io: Io = {
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    stdin: noInput(),
    cwd: process.cwd(),
    env: process.env,
    now: Date.now,
  }
  return { exit: await run(argv, io), ...text }
}

async function* noInput(): AsyncGenerator<never> {}

const results: Result[] = []
for (const argv of JSON.parse(process.argv[2] ?? "[]") as string[][]) results.push(await resultOf(argv))
process.stdout.write(JSON.stringify(results))
