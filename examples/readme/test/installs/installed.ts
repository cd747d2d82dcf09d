/** What an installation has, from the file that npm writes about it. */

export interface Installed {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** `packages` of `package-lock.json`, by path. */
export type Packages = Readonly<Record<string, Installed>>

/**
 * The peers of packages of `scope` that neither `names` has nor a package among them brings. npm adds them by itself, other managers may not, and a program
 * that imports one has it by chance.
 */
export function missingPeers(packages: Packages, names: readonly string[], scope = "@sessions/"): readonly string[] {
  const reached = reach(packages, names)
  return [...reached]
    .filter((path) => nameOf(path).startsWith(scope))
    .flatMap((path) => {
      const { peerDependencies = {}, peerDependenciesMeta = {} } = packages[path] ?? {}
      return Object.keys(peerDependencies)
        .filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
        .filter((peer) => !reached.has(placeOf(packages, path, peer) ?? ""))
        .map((peer) => `${nameOf(path)} needs ${peer}, which the line does not name`)
    })
}

/** The paths of the packages and of their dependencies, without peers. */
function reach(packages: Packages, names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const open = names.map((name) => `node_modules/${name}`)
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const one = packages[path]
    if (one === undefined || found.has(path)) continue
    found.add(path)
    for (const name of Object.keys({ ...one.dependencies, ...one.optionalDependencies }))
      open.push(placeOf(packages, path, name) ?? "")
  }
  return found
}

/** Where a package at `path` finds another one: inside of itself, or in a folder above. */
function placeOf(packages: Packages, path: string, name: string): string | undefined {
  const parts = path.split(/\/?node_modules\//).slice(1)
  for (let depth = parts.length; depth >= 0; depth--) {
    const place = [...parts.slice(0, depth), name].map((part) => `node_modules/${part}`).join("/")
    if (packages[place] !== undefined) return place
  }
  return undefined
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
}
