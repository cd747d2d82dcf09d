/**
 * Opens the storage that `--store` names. A store with a path and the tables of a database are created only by commands that can create a
 * session in them; all others fail if there is nothing, so a misspelt path or schema is an error and leaves nothing behind.
 */
import { type Stats, statSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createMemoryStorage } from "@sessions/memory"
import { CommandError, UsageError } from "../errors.ts"
import { type HttpStoreOptions, openHttpStore } from "./http.ts"

export interface StoreOptions extends HttpStoreOptions {
  /** The command can create sessions in the store, so it may create the store too. */
  readonly create: boolean
  /** The option that names the store, for messages. Default: `--store`. */
  readonly option?: string
  /** The largest log, in bytes. Default: the storage's, 200 MB. */
  readonly maxSessionBytes?: number
}

/** Takes the text after the colon of the URL, and the folder that relative paths are resolved against. */
export type StoreFactory = (
  address: string,
  cwd: string,
  options: StoreOptions,
) => SessionStorage | Promise<SessionStorage>

export const DEFAULT_STORE = "file:./.sessions"

/** All but `file:` and `memory:` load their packages when they are used. */
export const STORES: Readonly<Record<string, StoreFactory>> = {
  file: (address, cwd, options) =>
    createFileStorage({
      root: usable(pathOf("file", address, cwd, "./.sessions"), "folder", options),
      ...limitOf(options),
    }),
  memory: (_address, _cwd, options) => createMemoryStorage({ limits: limitOf(options) }),
  async sqlite(address, cwd, options) {
    const path = usable(pathOf("sqlite", address, cwd, "./sessions.db"), "file", options)
    const { createSqliteStorage } = await import("@sessions/sqlite")
    return createSqliteStorage({ path, ...limitOf(options) })
  },
  async s3(address, _cwd, options) {
    const [, bucket, prefix] = /^(?:\/\/)?([^/]+)\/?(.*?)\/?$/s.exec(address) ?? []
    if (bucket === undefined) throw new UsageError("s3: needs a bucket, for example s3:my-bucket/prefix.")
    const [{ createS3Storage }, { S3Client }] = await installed("s3", ["@sessions/s3", "@aws-sdk/client-s3"], () =>
      Promise.all([import("@sessions/s3"), import("@aws-sdk/client-s3")]),
    )
    // The SDK finds region, credentials and endpoint in the environment. A store of one's own rarely has a host name for each bucket.
    const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 } = process.env
    const client = new S3Client({ forcePathStyle: (AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL) !== undefined })
    await client.config.region().catch(() => {
      throw new UsageError("s3: needs a region; set AWS_REGION, or `region` in ~/.aws/config.")
    })
    const place = prefix === "" || prefix === undefined ? { bucket } : { bucket, prefix }
    return createS3Storage({ client, ...place, ...limitOf(options) })
  },
  postgres: openPostgres,
  postgresql: openPostgres,
  http: (address, cwd, options) => openHttpStore(`http:${address}`, cwd, options),
  https: (address, cwd, options) => openHttpStore(`https:${address}`, cwd, options),
}

export async function openStore(
  url: string,
  cwd: string,
  options: StoreOptions,
  stores: Readonly<Record<string, StoreFactory>> = STORES,
): Promise<SessionStorage> {
  const { scheme, address } = parseUrl(url)
  const open = Object.hasOwn(stores, scheme) ? stores[scheme] : undefined
  if (open !== undefined) return open(address, cwd, options)
  const known = Object.keys(stores).map((name) => `${name}:`)
  throw new UsageError(`unknown store type ${JSON.stringify(scheme)} in ${url}; use a path or ${known.join(", ")}.`)
}

/** The scheme and the absolute path of a store with a path; undefined for other stores. */
export function pathOfStore(url: string, cwd: string): { readonly scheme: string; readonly path: string } | undefined {
  const { scheme, address } = parseUrl(url)
  const example = EXAMPLES[scheme]
  return example === undefined ? undefined : { scheme, path: pathOf(scheme, address, cwd, example) }
}

/** A path needs no scheme. A single letter before the colon is a drive, not a scheme. */
function parseUrl(url: string): { readonly scheme: string; readonly address: string } {
  const [, scheme = "file", address = url] = /^([A-Za-z][A-Za-z0-9+.-]+):(.*)$/s.exec(url) ?? []
  // As messages name a storage of files.
  return { scheme: scheme === "fs" ? "file" : scheme, address }
}

/** Of stores with a path. */
const EXAMPLES: Readonly<Record<string, string>> = { file: "./.sessions", sqlite: "./sessions.db" }

/** `//USER@HOST/DATABASE`, with the options of the driver and of the storage as parameters. */
async function openPostgres(address: string, _cwd: string, options: StoreOptions): Promise<SessionStorage> {
  const example = "postgres://USER@HOST/DATABASE"
  if (!address.startsWith("//") || !URL.canParse(`postgres:${address}`))
    throw new UsageError(`postgres: needs the address of a database, for example ${example}.`)
  const url = new URL(`postgres:${address}`)
  const own: Record<string, string> = {}
  // As messages name the storage: with its schema and its prefix behind the database.
  const [, database, schema, prefix] = /^([^:]*):([^.:]+)(?:\.([^:]*))?$/.exec(url.pathname) ?? []
  if (database !== undefined) {
    url.pathname = database
    Object.assign(own, schema === undefined ? {} : { schema }, prefix === undefined ? {} : { prefix })
  }
  for (const name of ["schema", "prefix", "durability"]) {
    const value = url.searchParams.get(name)
    if (value !== null) own[name] = value
    url.searchParams.delete(name)
  }
  const [{ createPostgresStorage }, { Pool }] = await installed("postgres", ["@sessions/postgres", "pg"], () =>
    Promise.all([import("@sessions/postgres"), import("pg")]),
  )
  // The driver takes a missing password from PGPASSWORD or ~/.pgpass. Idle connections do not keep the command running.
  const client = new Pool({ connectionString: url.href, max: 4, allowExitOnIdle: true })
  // The next statement reports that the server is away.
  client.on("error", () => undefined)
  const host = url.searchParams.get("host") ?? url.host
  const { create } = options
  const name = `postgres://${host}${url.pathname}`
  return createPostgresStorage({ client, name, create, ...own, ...limitOf(options) })
}

function limitOf({ maxSessionBytes }: StoreOptions): { readonly maxSessionBytes?: number } {
  return maxSessionBytes === undefined ? {} : { maxSessionBytes }
}

function pathOf(scheme: string, address: string, cwd: string, example: string): string {
  if (address === "") throw new UsageError(`${scheme}: needs a path, for example ${scheme}:${example}.`)
  if (!address.startsWith("//")) return isAbsolute(address) ? address : resolve(cwd, address)
  try {
    return fileURLToPath(`file:${address}`)
  } catch {
    throw new UsageError(`${scheme}:${address} is not a path of this machine; use ${scheme}:PATH.`)
  }
}

/** `kind`: what a store of this kind is. */
function usable(path: string, kind: "folder" | "file", { create, option = "--store" }: StoreOptions): string {
  const found = statOf(path)
  if (kind === "folder" && found?.isFile() === true)
    throw new CommandError(
      `${path} is a file, and a store of files is a folder; for a database of SQLite write sqlite:${path}.`,
    )
  if (kind === "file" && found?.isDirectory() === true)
    throw new CommandError(
      `${path} is a folder, and a database of SQLite is a file; for a store of files write file:${path}.`,
    )
  if (create || found !== undefined || !isMissing(path)) return path
  throw new CommandError(
    `there is no store at ${path}; name another one with ${option}. "sessions import" and "sessions copy --to" create stores.`,
  )
}

/** Undefined if there is nothing, or that cannot be found out. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** False if that cannot be found out: the storage then says why. */
function isMissing(path: string): boolean {
  try {
    statSync(path)
    return false
  } catch (error) {
    const { code } = error as { code?: unknown }
    return code === "ENOENT" || code === "ENOTDIR"
  }
}

/** Loads packages that only one store needs. */
async function installed<T>(scheme: string, packages: readonly string[], load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error
    throw new CommandError(`${scheme}: needs further packages; run "npm install ${packages.join(" ")}".`)
  }
}
