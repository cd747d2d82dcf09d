import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { makePlace } from "./workspace.ts"

const SCRIPT = fileURLToPath(new URL("./same-bytes.ts", import.meta.url))

/** Under another runner than Node's, `process.execPath` is that other runtime. */
const onNode = !("Bun" in globalThis) && !("Deno" in globalThis)
const RUNTIMES: readonly (readonly [string, string, readonly string[]])[] = [
  ["Node", process.execPath, ["--conditions=source"]],
  ["Bun", "bun", ["--conditions=source"]],
  ["Deno", "deno", ["run", "-A", "--no-lock", "--cached-only", "--conditions=source"]],
]

const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== "NODE_OPTIONS"))
const isHere = (program: string): boolean => spawnSync(program, ["--version"], { env }).status === 0
const here = onNode ? RUNTIMES.filter(([, program]) => isHere(program)) : []

test.skipIf(here.length < 2)(
  "one log written through memory and files is the same, byte for byte, on every runtime",
  () => {
    const place = makePlace()
    const outputs = here.map(([name, program, flags]) => {
      const { status, stdout, stderr } = spawnSync(program, [...flags, SCRIPT, join(place.root, name)], {
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
  },
)
