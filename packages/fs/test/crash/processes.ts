/** The processes of the crash test: bundled once, so that a start takes milliseconds; each a real process, no wrapper around one. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

export interface Runtime {
  readonly name: "node" | "bun" | "deno"
  readonly command: string
  readonly args: readonly string[]
}

export interface Worker {
  readonly runtime: Runtime
  readonly process: ChildProcess
  send(message: unknown): void
  /** Each line that it says, parsed; ends with the process. */
  readonly said: AsyncIterableIterator<unknown>
  /** Resolves when it has ended and nothing it said is missing. */
  readonly ended: Promise<unknown>
  /** What it wrote to standard error. */
  readonly complaints: () => string
}

/** Bundles programs into the folder; returns their paths in the same order. */
export async function bundle(folder: string, programs: readonly URL[]): Promise<readonly string[]> {
  const sources = programs.map((url) => fileURLToPath(url))
  await build({
    entryPoints: sources,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What a program imports when it needs it is loaded then.
    splitting: true,
    chunkNames: "chunk-[hash]",
    platform: "node",
    format: "esm",
    target: "es2023",
    conditions: ["@sessions/source"],
    // For CommonJS packages in the bundle that require a module of Node.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "silent",
  })
  return sources.map((source) => join(folder, basename(source).replace(/\.ts$/, ".mjs")))
}

/** The runtimes that are here; what stands in `node_modules/.bin` may be a script that starts the real one. */
export function findRuntimes(): readonly Runtime[] {
  const bun = whereIs("bun", ["-e", "console.log(process.execPath)"])
  const deno = whereIs("deno", ["eval", "console.log(Deno.execPath())"])
  return [
    { name: "node", command: process.execPath, args: [] },
    ...(bun === undefined ? [] : [{ name: "bun" as const, command: bun, args: [] }]),
    ...(deno === undefined
      ? []
      : [{ name: "deno" as const, command: deno, args: ["run", "-A", "--no-lock", "--no-check"] }]),
  ]
}

export function start(runtime: Runtime, program: string): Worker {
  const child = spawn(runtime.command, [...runtime.args, program], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  })
  let complaints = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text
  })
  // One that was killed takes no more input, which is no fault of anybody's.
  child.stdin.on("error", () => undefined)
  const lines = createInterface({ input: child.stdout })
  return {
    runtime,
    process: child,
    send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    said: parsed(lines),
    ended: once(child, "close"),
    complaints: () => complaints,
  }
}

async function* parsed(lines: AsyncIterable<string>): AsyncGenerator<unknown, void, undefined> {
  for await (const line of lines) yield JSON.parse(line) as unknown
}

function whereIs(command: string, args: readonly string[]): string | undefined {
  try {
    const path = [
      join(fileURLToPath(new URL("../../../..", import.meta.url)), "node_modules", ".bin"),
      process.env["PATH"],
    ]
    const text = execFileSync(command, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, NO_COLOR: "1", PATH: path.join(":") },
    })
    return text.trim()
  } catch {
    return undefined
  }
}
