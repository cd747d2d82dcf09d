import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.mjs"

/** The pages of `docs/` for users, in the order of reading. `llms-full.txt` and the package of core have them in full. */
export const USERS = [
  "getting-started",
  "concepts",
  "storages",
  "recipes",
  "errors",
  "events",
  "options",
  "faq",
  "comparison",
  "migration",
]

/** Writes the pages for users into the package of core, where whoever sees an error finds them without a network. */
export function writePackedPages() {
  const folder = join(root, "packages", "core", "docs")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const name of USERS)
    writeFileSync(join(folder, `${name}.md`), packedPage(readFileSync(join(root, "docs", `${name}.md`), "utf8"), USERS))
}

/** A page without what is not beside it in the package: a link becomes its text, and a picture its description. */
export function packedPage(text, names) {
  return text
    .replaceAll(/<img [^>]*alt="([^"]*)"[^>]*>/g, "$1")
    .replaceAll(/\[([^\]]*)\]\((?!#|https?:)([^)#]*)[^)]*\)/g, (link, shown, target) =>
      names.some((name) => target === `${name}.md`) ? link : shown,
    )
}
