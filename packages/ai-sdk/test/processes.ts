/** Starts programs of the tests as processes of their own. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { FLAGS } from "../../../.config/program.ts"

export function startProgram(
  program: URL,
  args: readonly string[],
): ChildProcess & { readonly stdout: NodeJS.ReadableStream } {
  const { NODE_OPTIONS: _, ...env } = process.env
  return spawn(process.execPath, [...FLAGS, fileURLToPath(program), ...args], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  })
}

export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  return child.exitCode
}
