import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { run } from "./run.mjs"
import { publishable } from "./workspace.mjs"

/** Unpacks the packages into a folder, as npm gets them, and links what `workspaces` depend on. Takes no registry. */
export async function unpackAll(tarballs, folder, workspaces = publishable()) {
  for (const { name, file } of tarballs) {
    const to = join(folder, "node_modules", name)
    mkdirSync(to, { recursive: true })
    const { code, output } = await run("tar", ["-xzf", file, "-C", to, "--strip-components=1"])
    if (code !== 0) throw new Error(`${file} cannot be unpacked: ${output}`)
  }
  for (const workspace of workspaces) linkDependencies(workspace, folder)
}

/** Links what a package of the workspace depends on, except packages that are published: those are there or above the folder, unpacked. */
export function linkDependencies({ dir, manifest }, folder) {
  const packed = publishable().map((one) => one.manifest.name)
  const names = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  for (const name of names.filter((one) => !packed.includes(one)))
    link(join(dir, "node_modules", name), join(folder, "node_modules", name))
}

export function link(from, to) {
  if (existsSync(to) || !existsSync(from)) return
  mkdirSync(dirname(to), { recursive: true })
  symlinkSync(from, to, "junction")
}
