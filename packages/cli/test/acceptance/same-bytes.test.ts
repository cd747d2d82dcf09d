import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { createWorkspace } from "./workspace.ts"
import { flagsOf } from "../../../../.config/program.ts"

const SCRIPT = fileURLToPath(new URL("./same-bytes.ts", import.meta.url))

/** On other runtimes `process.execPath` is not Node. */
const onNode = !("Bun" in globalThis) && !("Deno" in globalThis)
const RUNTIMES: readonly (readonly [string, string, readonly string[]])[] = [
  ["Node", process.execPath, flagsOf("node")],
  ["Bun", "bun", flagsOf("bun")],
  ["Deno", "deno", flagsOf("deno")],
]

const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== "NODE_OPTIONS"))
const isInstalled = (program: string): boolean => spawnSync(program, ["--version"], { env }).status === 0
const available = onNode ? RUNTIMES.filter(([, program]) => isInstalled(program)) : []

test.skipIf(available.length < 2)("a log written to memory and to files has the same bytes on every runtime", () => {
  const workspace = createWorkspace()
  const outputs = available.map(([name, program, flags]) => {
    const { status, stdout, stderr } = spawnSync(program, [...flags, SCRIPT, join(workspace.root, name)], {
      env,
      encoding: "utf8",
    })
    expect(status, `${name}: ${stderr}`).toBe(0)
    return [name, JSON.parse(stdout)] as const
  })
  const [, [expected]] = outputs[0] as readonly [string, readonly unknown[]]
  for (const [name, [memory, files]] of outputs as readonly (readonly [string, readonly unknown[]])[]) {
    expect(memory, `memory on ${name}`).toEqual(expected)
    expect(files, `files on ${name}`).toEqual(expected)
  }
})
