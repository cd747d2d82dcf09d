/** Runs scripts of this repository in other processes of the current runtime. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { FLAGS } from "../../../../.config/program.ts"

export interface Child {
  /** The next line of standard output; undefined at the end. */
  readonly line: () => Promise<string | undefined>
  readonly send: (line: string) => void
  readonly kill: () => void
  /** The remaining lines, once the process has ended. Rejects on a non-zero exit status, unless it was killed. */
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
    send: (text) => child.stdin.write(`${text}\n`),
    kill: () => child.kill("SIGKILL"),
    async rest() {
      // Deno keeps a process alive while its standard input is open.
      child.stdin.end()
      const found: string[] = []
      for (let next = await line(); next !== undefined; next = await line()) found.push(next)
      const code = await ended
      if (code !== 0 && !child.killed) throw new Error(`${script.href} ended with ${code}: ${stderr}`)
      return found
    },
  }
}
