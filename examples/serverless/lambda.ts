/** Adapts a `Request` handler to AWS Lambda behind a function URL or an HTTP API (payload format 2.0). */
export interface LambdaEvent {
  readonly rawPath: string
  readonly rawQueryString?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string
  readonly isBase64Encoded?: boolean
  readonly requestContext: { readonly domainName: string; readonly http: { readonly method: string } }
}

export interface LambdaResult {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function toLambda(
  handle: (request: Request) => Promise<Response>,
): (event: LambdaEvent) => Promise<LambdaResult> {
  return async (event) => {
    const response = await handle(toRequest(event))
    return {
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    }
  }
}

function toRequest({
  rawPath,
  rawQueryString = "",
  headers = {},
  body,
  isBase64Encoded,
  requestContext,
}: LambdaEvent): Request {
  const { domainName, http } = requestContext
  const url = `https://${domainName}${rawPath}${rawQueryString === "" ? "" : `?${rawQueryString}`}`
  const bytes = body === undefined ? undefined : isBase64Encoded === true ? fromBase64(body) : body
  const given = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined)
  return new Request(url, { method: http.method, headers: given, ...(bytes !== undefined && { body: bytes }) })
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))
}
