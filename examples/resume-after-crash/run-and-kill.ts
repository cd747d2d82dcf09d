/** Runs the agent in a child process and kills it when its tool has charged. SIGKILL leaves it no chance to clean up. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

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
  let isCharged = false
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== "charged") {
      acknowledged.push(line)
      continue
    }
    isCharged = true
    child.kill("SIGKILL")
  }
  const exit = await ended
  if (!isCharged) throw new Error(`The agent process ended before it was killed (${exit}).`)
  return acknowledged
}
