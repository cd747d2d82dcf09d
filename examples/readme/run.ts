/** Runs blocks in a process of the current runtime, or of the Node that `BLOCKS_NODE` names; returns what each has printed. */
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { FLAGS } from "../../.config/program.ts"
import type { Block } from "./blocks.ts"

const RUN_BLOCKS = fileURLToPath(new URL("run-blocks.ts", import.meta.url))
/** For a Node that has no types of its own. */
const TYPES = new URL("../../.tools/typescript.mjs", import.meta.url).href

/** `folder` has the packages. */
export function runBlocks(
  blocks: readonly Block[],
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): readonly { readonly printed: readonly string[]; readonly error?: string }[] {
  const files = blocks.map(({ code }, index) => {
    const file = join(folder, `block-${index}.ts`)
    writeFileSync(file, code)
    return file
  })
  const list = join(folder, "files.json")
  writeFileSync(list, JSON.stringify(files))
  const { NODE_OPTIONS: _, BLOCKS_NODE: node, ...env } = process.env
  const command = node === undefined ? [process.execPath, ...FLAGS] : [node, "--import", TYPES]
  const [program = "", ...flags] = command
  const { status, stdout, stderr } = spawnSync(program, [...flags, RUN_BLOCKS, list], {
    cwd: folder,
    env: { ...env, NO_COLOR: "1", ...variables },
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`${stdout}\n${stderr}`)
  return JSON.parse(stdout)
}
