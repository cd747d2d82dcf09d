/** Runs an agent's own program, as a judge of the files that are written for it. */
import { spawn } from "node:child_process"

export interface AgentRun {
  /** Of the program, in errors. */
  readonly name: string
  readonly program: string | undefined
  readonly args: readonly string[]
  readonly cwd: string
  /** All of its environment, beside PATH. */
  readonly env: Readonly<Record<string, string>>
}

/** What it has printed on its standard output, once it has ended. Rejects with all that it has printed if it fails. */
export async function runAgent({ name, program = "", args, cwd, env }: AgentRun): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let [printed, all] = ["", ""]
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()))
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (all += chunk.toString()))
  const code = await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject))
  if (code !== 0) throw new Error(`${name} ended with ${String(code)}: ${all}`)
  return printed
}
