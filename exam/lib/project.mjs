/** The project in which the tasks are solved: the packed packages, what the tasks need beside them, and the tasks without their graders. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { link } from "../../.tools/lib/packed-project.mjs"
import { manifest, packages, root } from "../../.tools/lib/workspace.mjs"

export const folderOfTasks = fileURLToPath(new URL("../tasks", import.meta.url))

/** The packages of others that the tasks use, in the versions of the workspace. */
const OTHERS = [
  "@anthropic-ai/sdk",
  "@aws-sdk/client-s3",
  "@electric-sql/pglite",
  "@langchain/core",
  "@langchain/langgraph",
  "@langchain/langgraph-checkpoint",
  "@openai/agents-core",
  "@types/node",
  "ai",
  "fake-indexeddb",
  "fast-check",
  "openai",
  "zod",
]

/** The names of the tasks in their order: `01-page-chat`, … */
export function tasks(only = []) {
  return readdirSync(folderOfTasks)
    .filter((name) => only.length === 0 || only.includes(name.slice(0, 2)))
    .sort()
}

/** What a taker gets of the tasks: their texts and the files that they hand out. */
export function copyTasks(folder) {
  cpSync(fileURLToPath(new URL("../project/README.md", import.meta.url)), join(folder, "README.md"))
  for (const name of tasks()) {
    const [from, to] = [join(folderOfTasks, name), join(folder, name)]
    mkdirSync(to, { recursive: true })
    cpSync(join(from, "TASK.md"), join(to, "TASK.md"))
    if (existsSync(join(from, "given"))) cpSync(join(from, "given"), to, { recursive: true })
  }
}

/** A project for `npm install`: the tarballs are in it, so that it needs nothing of this repository. */
export function writeManifest(tarballs, folder) {
  mkdirSync(join(folder, "tarballs"), { recursive: true })
  const ours = tarballs.map(({ name, file }) => {
    cpSync(file, join(folder, "tarballs", basename(file)))
    return [name, `file:tarballs/${basename(file)}`]
  })
  const others = OTHERS.map((name) => [name, versionOf(name)])
  const project = {
    name: "exam",
    private: true,
    type: "module",
    dependencies: Object.fromEntries([...ours, ...others]),
    devDependencies: { typescript: manifest.devDependencies.typescript7.replace("npm:typescript@", "") },
    optionalDependencies: manifest.optionalDependencies,
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(project, null, 2)}\n`)
}

/** What the project has beside the packages, linked from the workspace, for a run without a registry. */
export function linkOthers(folder) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name: "exam", private: true, type: "module" })}\n`)
  for (const name of OTHERS) link(join(dirOf(name), "node_modules", name), join(folder, "node_modules", name))
  link(join(root, "node_modules", "typescript7"), join(folder, "node_modules", "typescript"))
}

function versionOf(name) {
  return ownerOf(name).version
}

function dirOf(name) {
  return ownerOf(name).dir
}

/** A package of the workspace that has `name` installed. */
function ownerOf(name) {
  for (const { dir, manifest } of [{ dir: root, manifest: readManifest(root) }, ...packages()]) {
    const version = { ...manifest.dependencies, ...manifest.devDependencies }[name]
    if (version !== undefined && existsSync(join(dir, "node_modules", name))) return { dir, version }
  }
  throw new Error(`No package of the workspace has ${name} installed; run "pnpm install".`)
}

function readManifest(dir) {
  return JSON.parse(readFileSync(join(dir, "package.json"), "utf8"))
}
