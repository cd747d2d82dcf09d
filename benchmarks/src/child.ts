/** New processes of the runtime that runs this: for what must be measured from the start, and for peak memory. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Runs `children/NAME.ts` and gives the JSON that it prints last. */
export function inNewProcess<T>(name: string, args: readonly string[]): Promise<T> {
  const file = fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url))
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 64e6, timeout: 600_000 }
    const stop = (): void => void child.kill()
    process.once("exit", stop)
    const child = execFile(process.execPath, [...flags(), file, ...args], options, (error, stdout, stderr) => {
      process.off("exit", stop)
      if (error === null) resolve(JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as T)
      else reject(new Error(`${name} in a new process: ${error.message}\n${stderr}`))
    })
  })
}

function flags(): readonly string[] {
  return "Deno" in globalThis ? ["run", "-A", "--no-lock", "--cached-only"] : []
}
