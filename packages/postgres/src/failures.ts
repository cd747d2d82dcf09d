/**
 * The failures of a server and of the way to it: whether each passes, and what to do. By SQLSTATE or, of five letters, its first two as a class
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html), else by the code of the driver's error. The code and the sentence of an
 * error follow from its row, and so does its row in `docs/errors.md`.
 */
import type { Failure } from "@sessions/core/storage"

const OTHERS_FIRST = "other transactions came first each time; repeat the call"
const TABLES = "the tables are not as this package made them; update the package, or restore them from a backup"
const REFUSED = "a rule of the database that is not of this package refused it; look at its triggers and constraints"
const CERTIFICATE = "the server's certificate is not accepted; correct the `ssl` option of the driver, or the host name"
const RESTARTS = "the server is starting or stopping; repeat the call"
const NETWORK = "is the server running and reachable? Repeat the call"

const again = (when: string, act: string): Failure => ({ when, passes: "by itself", code: "unavailable", act })
const after = (when: string, act: string): Failure => ({ when, passes: "after", code: "misconfigured", act })
const never = (when: string, code: Failure["code"], act: string): Failure => ({ when, passes: "never", code, act })
const space = (when: string, act: string): Failure => ({ when, passes: "after", code: "quota", act })

export const FAILURES: readonly Failure[] = [
  // Nothing to do but wait.
  again("08", NETWORK),
  again(
    "25006",
    "this server is read-only, as a standby is, also during a failover; repeat the call, and if this stays, connect to the primary",
  ),
  again("40", OTHERS_FIRST),
  again("53", "the server has no resources left; repeat the call later"),
  again("53200", "the server has no memory left; repeat the call later"),
  again("53300", "too many connections; repeat the call, or use a smaller pool or a connection pooler"),
  again("53400", "a limit of the server's configuration is reached; repeat the call later"),
  again("55006", "another process uses it; repeat the call"),
  again("55P03", "another transaction held a lock for longer than lock_timeout; repeat the call"),
  again("57", RESTARTS),
  again(
    "57014",
    "the statement was cancelled, by statement_timeout or an administrator; nothing was written, so repeat the call",
  ),
  again("58", "the server's disk or system failed; repeat the call, and if this stays, look at its log"),
  again("XX", "the server failed within; repeat the call, and if this stays, look at its log"),
  again("ECONNREFUSED", NETWORK),
  again("ECONNRESET", NETWORK),
  again("ETIMEDOUT", NETWORK),
  again("EPIPE", NETWORK),
  again("EHOSTUNREACH", NETWORK),
  again("ENETUNREACH", NETWORK),
  again("EAI_AGAIN", NETWORK),

  // Space.
  space("53100", "the server's disk is full; make room there"),

  // Somebody has to change the set-up.
  after("22P05", "the database's encoding lacks a character; use a database with the encoding UTF8"),
  after("23", REFUSED),
  after("28", "the server did not accept the role; check user, database and pg_hba.conf"),
  after("28P01", "the password is wrong; correct it"),
  after("3D", "there is no such database; create it first"),
  after(
    "3F",
    "the schema was removed; restore it from a backup, or make a new storage object, which creates an empty one",
  ),
  after("42", TABLES),
  after("42501", "the role lacks a right; grant it, docs/postgres.md has the statements"),
  after(
    "42P01",
    "a table was removed; restore it from a backup, or make a new storage object, which creates an empty one",
  ),
  after(
    "55",
    "the server's set-up does not allow it, such as a publication of a table without a primary key; its message says what to change",
  ),
  after("57P04", "the database was dropped; restore it from a backup, or create it"),
  after("F0", "the server's configuration file is wrong; correct it"),
  after("P0", REFUSED),
  after("ENOTFOUND", "there is no host of this name; correct it"),
  after("SELF_SIGNED_CERT_IN_CHAIN", CERTIFICATE),
  after("DEPTH_ZERO_SELF_SIGNED_CERT", CERTIFICATE),
  after("UNABLE_TO_VERIFY_LEAF_SIGNATURE", CERTIFICATE),
  after("CERT_HAS_EXPIRED", CERTIFICATE),
  after("ERR_TLS_CERT_ALTNAME_INVALID", CERTIFICATE),

  // Never.
  never("0A", "unsupported", "this server cannot do it; use PostgreSQL 12 or newer"),
  never("22", "invalid", "the server takes no such value"),
  never("54", "unsupported", "it is larger than PostgreSQL can store"),
  never("XX001", "corrupt", "a page of the database is damaged; restore it from a backup"),
  never("XX002", "corrupt", "an index is damaged; rebuild it with REINDEX"),
]

const ROWS: ReadonlyMap<string, Failure> = new Map(FAILURES.map((row) => [row.when, row]))

/** Errors that the driver throws without a code, by the beginning of its message. */
const BY_MESSAGE: readonly (readonly [RegExp, Failure])[] = [
  [
    /^Cannot use a pool after calling end|^Client was closed|^Client has encountered a connection error|is not queryable$/,
    {
      when: "ended",
      passes: "never",
      code: "closed",
      act: "the client that was given has ended; make a new one, and a storage with it",
    },
  ],
  [/^The server does not support SSL/, after("SSL", CERTIFICATE)],
  [/^SASL|password must be a string/, after("SASL", "the server asks for a password; give the driver the right one")],
]

export function failureOf(code: string | undefined, message: string): Failure | undefined {
  if (code === undefined) return BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1]
  return ROWS.get(code) ?? (/^[0-9A-Z]{5}$/.test(code) ? ROWS.get(code.slice(0, 2)) : undefined)
}
