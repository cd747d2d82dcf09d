/** Runs the agent in a child process and kills it with SIGKILL, which gives it no chance to tidy up, while its tool runs. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** Of the second turn: the question, and the model's call of a tool. Its result never comes. */
const ACKNOWLEDGED_BEFORE_KILL = 2

/** Gives the ids of the entries whose appends were acknowledged. */
export async function runAndKill(root: string, session: string): Promise<readonly string[]> {
  const program = fileURLToPath(new URL("killed-agent.ts", import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, program, root, session], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = new Promise<string>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => resolve(signal ?? `exit ${code}`))
  })
  const acknowledged: string[] = []
  let left = Number.POSITIVE_INFINITY
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "second turn") left = ACKNOWLEDGED_BEFORE_KILL
    else {
      acknowledged.push(line)
      left--
    }
    if (left === 0) child.kill("SIGKILL")
  }
  const how = await ended
  if (left > 0) throw new Error(`The agent's process ended by itself (${how}).`)
  return acknowledged
}
