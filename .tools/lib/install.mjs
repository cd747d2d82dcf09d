import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { run } from "./run.mjs"
import { manifest, packages, root } from "./workspace.mjs"

const stamp = join(root, "node_modules", ".installed")

/** Runs pnpm through npx, so that Node and npm suffice. */
export function pnpm(args, options) {
  return run("npx", ["--yes", manifest.packageManager, ...args], { ...options, shell: process.platform === "win32" })
}

/** Installs the lockfile unless the last installation was the same. Prints the output of a failure. */
export async function install() {
  const wanted = fingerprint()
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return true
  const started = performance.now()
  console.error("Installing the development tools (the first time takes a minute) …")
  const { code, output } = await pnpm(["install", "--frozen-lockfile"])
  if (code !== 0) {
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
  // An installation bundles the inspector's page.
  const inspector = join(root, "packages", "inspector")
  const view = readdirSync(join(inspector, "view"), { recursive: true, withFileTypes: true })
  files.push(join(inspector, "build.mjs"))
  files.push(
    ...view
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .sort(),
  )
  for (const file of files) hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0")
  return hash.digest("hex")
}
