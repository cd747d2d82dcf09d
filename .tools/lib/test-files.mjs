// What kinds of vitest files there are, by what they and the files beside them import.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "./workspace.mjs"

const FOLDERS = ["packages", "conformance", "examples", "benchmarks", ".tools"]
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b(?!\s+type\b)[^"'`;]*?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/g
/** Code that may do otherwise on another runtime: its own modules, and its global object. */
const RUNTIME = /from ["'](?:node:|bun["':])|\b(?:Bun|Deno)\.[a-z]|"(?:Bun|Deno)" in globalThis/
const LAWS = /["']fast-check["']|\bFC_RUNS\b/

/** The files with vitest tests that need no browser, relative to the root. */
export function testFiles() {
  return FOLDERS.flatMap(filesIn).filter((file) => /\.test\.(?:ts|mjs)$/.test(file) && !file.includes(".browser."))
}

/** Those of `files` that test sources of their package which use a runtime's own API, not those that use it to test. */
export function touchingRuntimes(files) {
  return files.filter((file) => reaches(file, (path, text) => isSource(path) && RUNTIME.test(text)))
}

/** Those of `files` with property tests. */
export function withLaws(files) {
  return files.filter((file) => reaches(file, (_, text) => LAWS.test(text)))
}

export function isDeep(file) {
  return file.includes(".deep.")
}

function isSource(path) {
  return path.includes("/src/") && !path.includes(".test.")
}

/** Whether the file, or one that it imports directly or through others of its package, is one of those. */
function reaches(file, isWanted) {
  const seen = new Set()
  const open = [join(root, file)]
  while (open.length > 0) {
    const path = open.pop()
    if (seen.has(path) || !existsSync(path)) continue
    seen.add(path)
    const text = textOf(path)
    if (isWanted(path, text)) return true
    for (const [, from, lazily] of text.matchAll(IMPORT)) {
      const specifier = from ?? lazily
      if (specifier.startsWith(".") && specifier.endsWith(".ts")) open.push(join(dirname(path), specifier))
    }
  }
  return false
}

const texts = new Map()

function textOf(path) {
  if (!texts.has(path)) texts.set(path, readFileSync(path, "utf8"))
  return texts.get(path)
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return ["node_modules", "dist"].includes(entry.name) ? [] : filesIn(path)
  })
}
