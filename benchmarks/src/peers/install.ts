/** Installs and imports the other programs. They have their own folder, so that no package of this project depends on them. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const folder = fileURLToPath(new URL("../../peers/", import.meta.url))

/** Installs the peers once. Returns the reason if that fails. */
export function installPeers(): string | undefined {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Dependencies
  if (Object.keys(dependencies).every((name) => existsSync(join(folder, "node_modules", name)))) return undefined
  process.stderr.write("Installing the peers (once, half a minute) …\n")
  try {
    // Reading and writing sessions needs no install scripts.
    const args = ["install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--no-package-lock"]
    execFileSync("npm", args, { cwd: folder, stdio: "pipe", timeout: 300_000 })
    return undefined
  } catch (error) {
    return `the peers could not be installed: ${(error as Error).message.split("\n")[0]}`
  }
}

interface Dependencies {
  readonly dependencies: Readonly<Record<string, string>>
}

/** Imports a package of the peers' folder. */
export async function importPeer<T>(name: string): Promise<T> {
  const require = createRequire(join(folder, "package.json"))
  const paths = require.resolve.paths(name) ?? []
  const found = paths.map((path) => join(path, name)).find((path) => existsSync(path))
  if (found === undefined) throw new Error(`${name} is not installed`)
  const manifest = require(join(found, "package.json")) as Manifest
  const main = entryOf(manifest.exports) ?? manifest.module ?? manifest.main ?? "index.js"
  return (await import(pathToFileURL(join(found, main)).href)) as T
}

interface Manifest {
  readonly exports?: unknown
  readonly module?: string
  readonly main?: string
}

function entryOf(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports
  const record = exports as Readonly<Record<string, unknown>> | undefined
  const next = record?.["."] ?? record?.["import"] ?? record?.["default"]
  return next === undefined ? undefined : entryOf(next)
}
