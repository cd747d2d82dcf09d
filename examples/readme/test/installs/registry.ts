/** A registry on loopback with the packages as npm gets them: of others it has nothing. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { basename } from "node:path"

export interface Tarball {
  readonly name: string
  readonly file: string
}

/** Managers take no version of the last days. */
const PUBLISHED = "2020-01-01T00:00:00.000Z"

export async function startRegistry(
  tarballs: readonly Tarball[],
): Promise<{ readonly server: Server; readonly url: string }> {
  let own = ""
  const files = new Map(tarballs.map(({ file }) => [`/-/${basename(file)}`, file]))
  const server = createServer(({ url = "" }, response) => {
    const path = decodeURIComponent(url).replace(/\?.*/, "")
    const file = files.get(path)
    const tarball = tarballs.find(({ name }) => path === `/${name}`)
    if (file !== undefined) response.end(readFileSync(file))
    else if (tarball !== undefined) response.end(JSON.stringify(documentOf(tarball, own)))
    else response.writeHead(404).end("{}")
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  own = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { server, url: own }
}

export interface Manifest {
  readonly version: string
  readonly exports: Readonly<Record<string, { readonly default: string }>>
  readonly bin?: Readonly<Record<string, string>>
}

export function manifestOf(file: string): Manifest {
  return JSON.parse(execFileSync("tar", ["-xOzf", file, "package/package.json"], { encoding: "utf8" })) as Manifest
}

/** What a registry says of a package: its only version is the newest. */
function documentOf({ name, file }: Tarball, url: string): object {
  const manifest = manifestOf(file)
  const { version } = manifest
  const bytes = readFileSync(file)
  const dist = {
    tarball: `${url}-/${basename(file)}`,
    integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
    shasum: createHash("sha1").update(bytes).digest("hex"),
  }
  return {
    name,
    "dist-tags": { latest: version },
    time: { created: PUBLISHED, modified: PUBLISHED, [version]: PUBLISHED },
    versions: { [version]: { ...manifest, dist } },
  }
}
