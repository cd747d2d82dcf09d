import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { pnpm } from "../lib/install.mjs"
import { publishable, root } from "../lib/workspace.mjs"

const folder = join(root, ".reports", "packed")

/** Packs every published package as pnpm publishes it, with workspace versions and publishConfig applied. */
export async function packAll() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const filters = publishable().map(({ manifest }) => `--filter=${manifest.name}`)
  const { code, output } = await pnpm([...filters, "-r", "pack", "--pack-destination", folder])
  if (code !== 0) return { failure: output }
  const tarballs = publishable().map(({ manifest: { name, version } }) => ({
    name,
    file: join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`),
  }))
  return { tarballs }
}

/** The commands that check a tarball. */
export function packedTools(file) {
  return [
    ["publint", "run", file, "--strict"],
    ["attw", file, "--profile", "esm-only"],
  ]
}
