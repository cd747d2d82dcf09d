// Where the project is, in .config/project.json, and the fields of a manifest that follow from it.
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { root } from "./workspace.mjs"

export const project = JSON.parse(readFileSync(join(root, ".config", "project.json"), "utf8"))

const NAMES = ["repository", "homepage", "bugs"]

/** Of a package in this folder of the repository. Undefined: the address is not known, and the manifest does not have the field. */
export function fieldsOf({ repository, homepage, bugs }, folder) {
  return {
    repository: repository === "" ? undefined : { type: "git", url: `git+${repository}.git`, directory: folder },
    homepage: homepage === "" ? undefined : homepage,
    bugs: bugs === "" ? undefined : { url: bugs },
  }
}

/** A manifest with these fields behind its description, in place of those that it has. */
export function withFields(manifest, fields) {
  const { name, version, description, repository: _, homepage: __, bugs: ___, ...rest } = manifest
  const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return { name, version, description, ...known, ...rest }
}

/** What a release lacks. An address is a URL without `.git` or a slash at its end. */
export function missingOf(given) {
  return NAMES.flatMap((name) => {
    const value = given[name]
    if (value === "") return [`${name} is empty`]
    return /^https:\/\/[^\s/]+\/\S*[^\s/]$/.test(value) && !value.endsWith(".git")
      ? []
      : [`${name} is not an address: ${value}`]
  })
}

export function folderOf(dir) {
  return relative(root, dir).replaceAll("\\", "/")
}
