package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// SearchAttributes are the search attributes that workflows are started with, all of
// type Keyword.
func SearchAttributes() []string {
	return []string{protocol.SearchChannel, protocol.SearchSession, protocol.SearchSender}
}

// ErrNoNamespace is returned by [Client.CheckNamespace] if the namespace does not exist.
var ErrNoNamespace = errors.New("no such namespace")

// CheckNamespace reports why the namespace cannot be used.
func (c *Client) CheckNamespace(ctx context.Context) error {
	_, err := c.sdk.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.namespace})
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing {
		return ErrNoNamespace
	}
	return err
}

// MissingSearchAttributes returns the search attributes that the namespace lacks.
func (c *Client) MissingSearchAttributes(ctx context.Context) (missing []string, err error) {
	known, err := c.sdk.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: c.namespace})
	if err != nil {
		return nil, err
	}
	for _, name := range SearchAttributes() {
		if known.GetCustomAttributes()[name] != enumspb.INDEXED_VALUE_TYPE_KEYWORD {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// RegisterSearchAttributes adds the search attributes that the namespace lacks. If the
// cluster does not allow listing them, they are assumed to exist.
func (c *Client) RegisterSearchAttributes(ctx context.Context, logger *slog.Logger) error {
	missing, err := c.MissingSearchAttributes(ctx)
	if err != nil {
		logger.Warn("search attributes not listed, assuming they exist", "needed", SearchAttributes(), "err", err)
		return nil
	}
	if len(missing) == 0 {
		return nil
	}
	types := map[string]enumspb.IndexedValueType{}
	for _, name := range missing {
		types[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	_, err = c.sdk.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: c.namespace, SearchAttributes: types,
	})
	if _, exists := errors.AsType[*serviceerror.AlreadyExists](err); exists || err == nil {
		return nil
	}
	return fmt.Errorf("register the search attributes %v (an administrator of the cluster can, with `temporal operator search-attribute create`): %w",
		missing, err)
}
