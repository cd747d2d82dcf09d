/**
 * How tests start programs of this repository: in a process of the current runtime, with the built packages, as programs of users do. They are
 * built when this file is loaded, unless they are what the sources say.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The options of the current runtime before the path of a program. */
export const FLAGS: readonly string[] = flagsOf("Deno" in globalThis ? "deno" : "node")

export function flagsOf(runtime: "node" | "bun" | "deno"): readonly string[] {
  return runtime === "deno" ? ["run", "-A", "--no-lock", "--cached-only"] : []
}

const build = fileURLToPath(new URL("../.tools/build.mjs", import.meta.url))
execFileSync("node", [build, "--if-stale"], { stdio: ["ignore", "ignore", "inherit"] })

/**
 * A new folder whose programs find the packages that those of `workspace` find, and `workspace` itself, and a function that removes it. It is outside of
 * the work tree, in which a test that is killed would leave it.
 */
export function folderFor(workspace: string): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "sessions-program-"))
  const { name } = JSON.parse(readFileSync(join(workspace, "package.json"), "utf8")) as { name: string }
  link(workspace, join(folder, "node_modules", name))
  for (const one of installedIn(join(workspace, "node_modules")))
    link(join(workspace, "node_modules", one), join(folder, "node_modules", one))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function installedIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
    )
}

function link(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  symlinkSync(from, to, "junction")
}
