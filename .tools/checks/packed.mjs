import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { pnpm } from "../lib/install.mjs"
import { linksOutOf, PACKED } from "../lib/pages.mjs"
import { run } from "../lib/run.mjs"
import { publishable, root } from "../lib/workspace.mjs"

const folder = join(root, ".reports", "packed")

let packing

/** Packs every published package as pnpm publishes it, with workspace versions and publishConfig applied; once in a process. */
export function packAll() {
  packing ??= pack()
  return packing
}

async function pack() {
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

/** Unpacked, in bytes. Core and fs are what most programs install; with its one dependency (94 KB) core stays below 1,286 KB. */
const LARGEST = { "@sessions/core": 1_203_000, "@sessions/fs": 220_000 }
const LEAN =
  /^package\/(?:dist\/.*\.(?:js|d\.ts)|json\/[\w-]+\.json|openapi[\w-]*\.json|skills\/[\w-]+\/SKILL\.md|docs\/[\w-]+\.md|template\/.+|(?:package\.json|README\.md|LICENSE|AGENTS\.md))$/

/** What a tarball has beside code, types, schemas, its texts and the licence, links out of it, and whether it is larger than it may be. */
export async function contentProblems({ name, file }) {
  const { code, output } = await run("tar", ["-tvzf", file])
  if (code !== 0) return [output]
  const entries = output
    .trim()
    .split("\n")
    .map((line) => /\s(\d+)\s+\S+\s+\S+\s+(package\/.*)$/.exec(line) ?? [line, "0", line])
  const bytes = entries.reduce((sum, [, size]) => sum + Number(size), 0)
  const paths = entries.map(([, , path]) => path)
  const strange = paths.filter((path) => !LEAN.test(path) || path.includes(".test."))
  const links = []
  for (const path of paths.filter((one) => one.endsWith(".md"))) {
    const { output: text } = await run("tar", ["-xOzf", file, path])
    for (const target of linksOutOf(paths, path, text)) links.push(`${path} links to ${target}, which it has not`)
  }
  const limit = LARGEST[name] ?? Infinity
  return [
    ...links,
    ...strange.map((path) => `has ${path}`),
    ...(bytes > limit ? [`has ${bytes} bytes unpacked, more than ${limit}`] : []),
    ...["README.md", "LICENSE", ...(PACKED[name] ?? []).map((page) => `docs/${page}.md`)]
      .filter((path) => !paths.includes(`package/${path}`))
      .map((path) => `has no ${path}`),
  ]
}
