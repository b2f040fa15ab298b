import { join } from "node:path";
import ts from "typescript";

const root = join(__dirname, "../..");

/** The TSDoc of a symbol. */
export interface Words {
  /** Empty if there is no TSDoc. */
  readonly text: string;
  /** The replacement, if the symbol is deprecated. */
  readonly deprecated: string | undefined;
}

/** A field of a TypeScript type. */
export interface Field extends Words {
  readonly optional: boolean;
  readonly type: ts.Type;
  /** The type name in the declaration of the field. The compiler drops some names, so they are read from the source. */
  readonly typeName: string | undefined;
}

/** The fields of a type, by name. */
export type Fields = ReadonlyMap<string, Field>;

/** Documentation of a resource class. */
export interface Documented extends Words {
  readonly args: Fields;
  readonly outputs: Fields;
}

/** Reads TSDoc from the exports of the package, so descriptions are written only once, next to the code. */
export class Sources {
  readonly #checker: ts.TypeChecker;
  readonly #exports: ReadonlyMap<string, ts.Symbol>;
  readonly #program: ts.Program;

  constructor(private readonly entry = join(root, "provider/index.ts")) {
    const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
    this.#program = ts.createProgram([entry], options);
    this.#checker = this.#program.getTypeChecker();
    const module = this.#checker.getSymbolAtLocation(this.#program.getSourceFile(entry) as ts.SourceFile);
    const exported = this.#checker.getExportsOfModule(module as ts.Symbol);
    this.#exports = new Map(exported.map((symbol) => [symbol.name, this.#original(symbol)]));
  }

  /** Returns the TSDoc, the arguments and the outputs of a resource class. */
  resource(name: string): Documented {
    const symbol = this.#exported(name);
    const [declaration] = this.#checker
      .getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration as ts.Node)
      .getConstructSignatures();
    const args = declaration?.parameters[1];
    if (!args)
      throw new Error(
        `The constructor of class ${name} has no second parameter for the arguments of the resource.`,
      );
    return {
      ...this.#wordsOf(symbol),
      args: this.fieldsOf(this.#checker.getTypeOfSymbol(args)),
      outputs: this.fieldsOf(this.#checker.getDeclaredTypeOfSymbol(symbol)),
    };
  }

  /** Returns the TSDoc and the arguments of a function. */
  lookup(name: string): Words & { readonly args: Fields } {
    const symbol = this.#exported(name);
    const [call] = this.#checker
      .getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration as ts.Node)
      .getCallSignatures();
    const args = call?.parameters[0];
    return {
      ...this.#wordsOf(symbol),
      args: args ? this.fieldsOf(this.#checker.getTypeOfSymbol(args)) : new Map(),
    };
  }

  /** Returns the comments on the members of an object literal that initializes a constant. */
  membersOf(file: string, constant: string): ReadonlyMap<string, Words> {
    const source = this.#program.getSourceFile(join(root, file));
    if (!source) throw new Error(`${file} is not part of the package.`);
    const found = new Map<string, Words>();
    const visit = (node: ts.Node): void => {
      if (ts.isObjectLiteralExpression(node)) {
        for (const member of node.properties) {
          const name = member.name?.getText(source);
          const symbol = member.name && this.#checker.getSymbolAtLocation(member.name);
          if (name && symbol) found.set(name, this.#wordsOf(symbol));
        }
      } else ts.forEachChild(node, visit);
    };
    for (const statement of source.statements.filter(ts.isVariableStatement))
      for (const declared of statement.declarationList.declarations)
        if (declared.name.getText(source) === constant) visit(declared);
    return found;
  }

  /** Returns the name of a type, or undefined if it is anonymous. */
  nameOf(type: ts.Type): string | undefined {
    const inner = this.#unwrapped(type);
    const name = inner.aliasSymbol?.name ?? inner.symbol?.name;
    return name && /^[A-Z]/.test(name) && !["Record", "Readonly", "Array", "ReadonlyArray"].includes(name)
      ? name
      : undefined;
  }

  /** Returns the TSDoc of a type. */
  textOf(type: ts.Type): string {
    const inner = this.#unwrapped(type);
    const symbol = inner.aliasSymbol ?? inner.symbol;
    return symbol ? this.#wordsOf(symbol).text : "";
  }

  /** Returns the type of the elements of a list or map. */
  entryOf(type: ts.Type): ts.Type | undefined {
    for (const form of this.#formsOf(type)) {
      const entry = form.getNumberIndexType() ?? form.getStringIndexType();
      if (entry) return entry;
    }
    return undefined;
  }

  /** Returns the fields of a type. For a union, returns the fields of all members. */
  fieldsOf(type: ts.Type): Fields {
    const fields = new Map<string, Field>();
    for (const form of this.#formsOf(type)) {
      if (form.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike))
        continue;
      for (const symbol of this.#checker.getPropertiesOfType(form)) {
        if (fields.has(symbol.name)) continue;
        fields.set(symbol.name, {
          ...this.#wordsOf(symbol),
          optional: (symbol.flags & ts.SymbolFlags.Optional) !== 0,
          type: this.#checker.getTypeOfSymbol(symbol),
          typeName: writtenName((symbol.declarations?.[0] as ts.PropertySignature | undefined)?.type),
        });
      }
    }
    return fields;
  }

  /** Returns the member of a union that has these fields. */
  formOf(type: ts.Type, names: readonly string[]): ts.Type | undefined {
    if (names.length === 0) return undefined;
    return this.#formsOf(type).find((form) => names.every((name) => form.getProperty(name)));
  }

  /** Returns whether a value of a type can be a Pulumi asset. */
  takesAsset(type: ts.Type): boolean {
    return this.#formsOf(type).some((form) => form.symbol?.name === "Asset");
  }

  #formsOf(type: ts.Type): readonly ts.Type[] {
    const inner = this.#unwrapped(type);
    return inner.isUnion() ? inner.types : [inner];
  }

  /** Returns the type inside an `Input` or `Output`, without null and undefined. */
  #unwrapped(type: ts.Type): ts.Type {
    const parts = type.isUnionOrIntersection() ? type.types : [type];
    const wrapper = parts.find((part) => ["Promise", "OutputInstance"].includes(part.symbol?.name));
    const [inner] = wrapper ? this.#checker.getTypeArguments(wrapper as ts.TypeReference) : [];
    if (inner) return this.#unwrapped(inner);
    // The compiler drops the name of a type when it removes null or undefined from it.
    const some = this.#checker.getNonNullableType(type);
    return some === type ? type : this.#unwrapped(some);
  }

  #exported(name: string): ts.Symbol {
    const symbol = this.#exports.get(name);
    if (!symbol) throw new Error(`${this.entry} does not export ${name}.`);
    return symbol;
  }

  #original(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  #wordsOf(symbol: ts.Symbol): Words {
    const tag = symbol.getJsDocTags(this.#checker).find(({ name }) => name === "deprecated");
    const deprecated = tag && ts.displayPartsToString(tag.text).trim();
    if (deprecated === "") throw new Error(`@deprecated of ${symbol.name} must name a replacement.`);
    return {
      text: ts.displayPartsToString(symbol.getDocumentationComment(this.#checker)).trim(),
      deprecated,
    };
  }
}

/** Returns the type name inside an `Input` or `Output` in a declaration. */
function writtenName(node: ts.TypeNode | undefined): string | undefined {
  if (!node || !ts.isTypeReferenceNode(node)) return undefined;
  const name = node.typeName.getText();
  if (/^(pulumi\.)?(Input|Output)$/.test(name)) return writtenName(node.typeArguments?.[0]);
  return node.typeArguments ? undefined : name;
}
