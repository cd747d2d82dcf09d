/** New processes of the current runtime: for figures that must be taken right after a start, and for peak memory. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Runs `children/NAME.ts` and returns the JSON in the last line that it prints. */
export async function inNewProcess<T>(name: string, args: readonly string[]): Promise<T> {
  const output = await outputOf(fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url)), args)
  return JSON.parse(output.trim().split("\n").at(-1) ?? "") as T
}

/** Runs a program and returns its output. The error of a failed one has what it wrote to stderr. */
export function outputOf(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 64e6, timeout: 600_000, env: { ...process.env, ...env } }
    const stop = (): void => void child.kill()
    process.once("exit", stop)
    const child = execFile(process.execPath, [...flags(), file, ...args], options, (error, stdout, stderr) => {
      process.off("exit", stop)
      if (error === null) resolve(stdout)
      else reject(new Error(`${file} in a new process: ${error.message}\n${stderr}`))
    })
  })
}

function flags(): readonly string[] {
  return "Deno" in globalThis ? ["run", "-A", "--no-lock", "--cached-only"] : []
}
