interface Runtimes {
  readonly Deno?: { readonly version: { readonly deno: string } }
  readonly Bun?: { readonly version: string }
  readonly process?: { readonly versions?: { readonly node?: string } }
  readonly navigator?: { readonly userAgent?: string }
}

/** The runtime with its version, e.g. `node 26.10.0`; in a page what the browser calls itself. */
export function runtimeName(): string {
  // Bun and Deno have a `process` too, so that Node comes last of the three.
  const { Deno, Bun, process, navigator } = globalThis as Runtimes
  if (Deno !== undefined) return `deno ${Deno.version.deno}`
  if (Bun !== undefined) return `bun ${Bun.version}`
  if (process?.versions?.node !== undefined) return `node ${process.versions.node}`
  return navigator?.userAgent ?? "unknown"
}
