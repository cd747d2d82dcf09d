import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { extname, join, relative } from "node:path"
import { run } from "./run.mjs"
import { manifest, packages, root } from "./workspace.mjs"

const stamp = join(root, "node_modules", ".installed")
const inspector = join(root, "packages", "inspector")
/** The bundle of the inspector's page, which is not in the repository. */
const page = join(inspector, "src", "page", "assets.ts")

/** Runs pnpm through npx, so that Node and npm suffice. */
export function pnpm(args, options) {
  return run("npx", ["--yes", manifest.packageManager, ...args], { ...options, shell: process.platform === "win32" })
}

/** Installs the lockfile and bundles the inspector's page, unless the last installation was the same. Prints the output of a failure. */
export async function install() {
  const wanted = fingerprint()
  if (existsSync(stamp) && existsSync(page) && readFileSync(stamp, "utf8") === wanted) return true
  const started = performance.now()
  console.error("Installing the development tools (the first time takes a minute) …")
  // pnpm runs `prepare` only if it installs something.
  for (const step of [
    () => pnpm(["install", "--frozen-lockfile"]),
    () => run(process.execPath, [join(inspector, "build.mjs")]),
  ]) {
    const { code, output } = await step()
    if (code === 0) continue
    console.error(output)
    return false
  }
  writeFileSync(stamp, wanted)
  console.error(`Installed in ${((performance.now() - started) / 1000).toFixed(0)} s.`)
  return true
}

function fingerprint() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`)
  const files = ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"].map((name) => join(root, name))
  for (const { dir } of packages()) files.push(join(dir, "package.json"))
  files.push(join(inspector, "build.mjs"))
  const view = join(inspector, "view")
  const names = readdirSync(view, { recursive: true }).filter((name) => extname(name) !== "")
  files.push(...names.map((name) => join(view, name)))
  for (const file of files) hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0")
  return hash.digest("hex")
}
