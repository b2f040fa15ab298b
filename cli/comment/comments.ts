/** A comment on a pull request. */
export interface Comment {
  readonly id: string;
  readonly body: string;
  /** Address of the comment, if the host reports it. */
  readonly url?: string | undefined;
}

/** Comments on one pull request, which a host such as GitHub stores. */
export interface Comments {
  /** Name of the host for messages. */
  readonly host: string;
  /** Maximum length of a comment. */
  readonly maxCharacters: number;
  /** Returns the oldest comment of this token's account that contains a marker. */
  find(marker: string): Promise<Comment | undefined>;
  create(body: string): Promise<Comment>;
  edit(id: string, body: string): Promise<Comment>;
  remove(id: string): Promise<void>;
}
