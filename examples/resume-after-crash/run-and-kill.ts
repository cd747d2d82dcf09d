/** Runs the agent in a child process and kills it while its tool runs. SIGKILL leaves it no chance to clean up. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** Entries of the second turn before the kill: the question and the model's tool call, which gets no result. */
const ACKNOWLEDGED_BEFORE_KILL = 2

/** Returns the ids of the acknowledged entries. */
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
  const exit = await ended
  if (left > 0) throw new Error(`The agent process ended before it was killed (${exit}).`)
  return acknowledged
}
