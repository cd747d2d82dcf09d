import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packAll } from "../checks/packed.mjs"
import { unpackAll } from "../lib/packed-project.mjs"
import { build } from "./build.mjs"

/**
 * The outcome of `use`, which gets the packages as npm gets them and an empty folder outside of the repository, which is removed afterwards. Programs in
 * that folder find all packages, with their dependencies: they are unpacked once in a run.
 */
export function withPacked(use) {
  return packed(async (tarballs) => join(await project(tarballs), "step-"), use)
}

/** The same, but programs in the folder find only what `use` puts there. */
export function withPackedAlone(use) {
  return packed(() => join(tmpdir(), "sessions-packed-"), use)
}

async function packed(prefix, use) {
  const built = await build()
  if (built.code !== 0) return failure(built.output)
  const { tarballs, failure: reason } = await packAll()
  if (reason !== undefined) return failure(reason)
  const folder = mkdtempSync(await prefix(tarballs))
  try {
    return await use(tarballs, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

let unpacking

function project(tarballs) {
  unpacking ??= unpack(tarballs)
  return unpacking
}

async function unpack(tarballs) {
  const folder = mkdtempSync(join(tmpdir(), "sessions-packed-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  await unpackAll(tarballs, folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  return folder
}

function failure(output) {
  return { passed: 0, failed: 1, skipped: 0, output }
}
