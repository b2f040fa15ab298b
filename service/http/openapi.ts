import document from "../../openapi.json";

/** The API as an OpenAPI document whose addresses are those of this service. */
export function openApiOf(url: string): unknown {
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
