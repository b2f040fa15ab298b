import { createHash } from "node:crypto";
import document from "../../openapi.json";

/** The OpenAPI document as bytes. Requests need no authentication, so it is serialized only once per address. */
export class OpenApiDocument {
  private served: { readonly url: string; readonly bytes: Buffer; readonly etag: string } | undefined;

  /** Returns the document for an address, with its ETag. */
  at(url: string): { readonly bytes: Buffer; readonly etag: string } {
    if (this.served?.url !== url) {
      const bytes = Buffer.from(JSON.stringify(openApiOf(url)));
      const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
      this.served = { url, bytes, etag };
    }
    return this.served;
  }
}

function openApiOf(url: string): unknown {
  const { securitySchemes } = document.components;
  const { clientCredentials } = securitySchemes.token.flows;
  const flows = { clientCredentials: { ...clientCredentials, tokenUrl: `${url}/oauth/token` } };
  return {
    ...document,
    servers: [{ url }],
    components: {
      ...document.components,
      securitySchemes: { ...securitySchemes, token: { ...securitySchemes.token, flows } },
    },
  };
}
