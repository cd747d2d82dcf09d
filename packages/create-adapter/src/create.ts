/** Writes the project: the files of the template, with the names of the new adapter in them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

/** The problem with the arguments, in a sentence that says what to do. */
export class UsageError extends Error {}

export interface Project {
  /** The path of the template's folder. */
  readonly template: string
  /** The new folder. Its last part names the package, with the part before it if that is a scope. */
  readonly folder: string
  /** Version of the packages of `@sessions`, which have one version. */
  readonly version: string
  readonly year: number
}

/** Returns the paths of the files, relative to the folder. Writes nothing if it throws a {@link UsageError}. */
export function createProject({ template, folder, version, year }: Project): readonly string[] {
  const path = resolve(folder)
  const own = basename(path)
  const scope = basename(dirname(path))
  // As npm names packages: `@acme/store` has a scope, whether the folder is given so or by a longer path.
  const name = scope.startsWith("@") ? `${scope}/${own}` : own
  if (!/^(?:@[a-z0-9]+(?:-[a-z0-9]+)*\/)?[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name))
    throw new UsageError(
      `"${name}" cannot name the package: use a-z and 0-9 in words with a hyphen between them, such as my-store or @acme/store.`,
    )
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${folder} is not empty: choose another folder.`)

  const fill = (text: string): string =>
    text.replaceAll("my-store", name).replaceAll("MyStore", pascal(own)).replace("(c) YEAR", `(c) ${year}`)
  const paths = readdirSync(template, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(template, path)).isFile())
    .sort()
  return paths.map((path) => {
    const text = fill(readFileSync(join(template, path), "utf8"))
    const to = RENAMED[path] ?? path
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    writeFileSync(join(folder, to), to === "package.json" ? withVersions(text, version) : text)
    return to
  })
}

/** Under their own names they would be taken for files of the package that has the template. */
const RENAMED: Readonly<Record<string, string>> = {
  _gitignore: ".gitignore",
  _LICENSE: "LICENSE",
  "_package.json": "package.json",
}

function pascal(name: string): string {
  return name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase())
}

/** The template asks for any version of our packages; a project gets the one that its template is of. */
function withVersions(text: string, version: string): string {
  return text.replaceAll(/("@sessions\/[\w-]+": )"\*"/g, `$1"^${version}"`)
}
