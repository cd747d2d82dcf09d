/** Other processes of the runtime that runs the tests. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** Runs TypeScript of this repository from its sources, in the runtime that runs this. */
export const FLAGS: readonly string[] =
  "Deno" in globalThis ? ["run", "-A", "--no-lock", "--cached-only", "--conditions=source"] : ["--conditions=source"]

export interface Child {
  /** The next line of its standard output; undefined at its end. */
  readonly line: () => Promise<string | undefined>
  readonly say: (line: string) => void
  readonly kill: () => void
  /** What remains of its output, when it has ended. Rejects where it ended badly without being killed. */
  readonly rest: () => Promise<string[]>
}

export function startChild(script: URL, ...args: readonly string[]): Child {
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(process.execPath, [...FLAGS, fileURLToPath(script), ...args], { env })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  child.stdin.on("error", () => undefined)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", resolve)
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<string | undefined> => {
    const { value, done } = await lines.next()
    return done === true ? undefined : value
  }
  return {
    line,
    say: (text) => child.stdin.write(`${text}\n`),
    kill: () => child.kill("SIGKILL"),
    async rest() {
      // Deno's standard input holds its process as long as the other end is open.
      child.stdin.end()
      const found: string[] = []
      for (let next = await line(); next !== undefined; next = await line()) found.push(next)
      const code = await ended
      if (code !== 0 && !child.killed) throw new Error(`${script.href} ended with ${code}: ${stderr}`)
      return found
    },
  }
}
